"""Fine-tuning within a time budget: the frozen answer first, then the network, then the better of the two.

=========  ===================================================================================================
step       what
=========  ===================================================================================================
plan       a few steps are timed, and epochs and photos per epoch chosen so that the learning rate ends with
           the time; they are written to ``config.yaml``, which then decides the result
train      the squared loss onto the anchors, started from the closed form; checkpoints in ``RUN/tune``
choose     frozen and tuned are compared by the likelihood of held-out labels, as they are given
=========  ===================================================================================================

The fine-tuned network is an encoder again, with a linear map to the anchors on its features: predicting, exporting and
reviewing know no difference.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median
from typing import Any

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored._progress import Progress
from anchored._random import stream
from anchored.audit import fit_label_noise, trust_labels
from anchored.data import Dataset
from anchored.features import encode, kind_of
from anchored.features.photos import PhotoEncoder
from anchored.features.tuning import TunedBackbone, photo_pixels
from anchored.methods import Classifier, start_from
from anchored.ridge import fit_ridge
from anchored.runs.data import RunData
from anchored.runs.decide import Decision, hold_out_share
from anchored.runs.look import Look
from anchored.runs.model import OWN_BACKBONE
from anchored.training import (
    BackboneConfig,
    Checkpoint,
    EpochRecord,
    MethodConfig,
    OptimizerConfig,
    Parts,
    RunConfig,
    Runtime,
    ScheduleConfig,
    State,
    TrainingSetup,
    TuneConfig,
)

__all__ = [
    "FineTuning",
    "Tuned",
    "check_tunable",
    "held_out_likelihood",
    "kept_config",
    "may_be_tuned",
    "model_config",
    "resolve_tuning",
    "told",
    "was_tuned",
]

_METHOD = "tuned"
_PASSES = 5
"""Passes through the photos if neither minutes nor epochs are given."""
_MOST_PASSES = 8
"""Passes after which more time is not used: wrong labels would be learnt by heart. More were never tried."""
_FEWEST_STEPS = 20
_EPOCH_SECONDS = 60.0
_MEASURED_STEPS, _WARM_STEPS = 6, 2
_SPARE = 0.06
"""The part of the time that is kept for what cannot be foreseen."""
_WARM_UP = 0.05
_ENOUGH_HELD_OUT, _MOST_HELD_OUT = 500, 0.2
"""Photos that are held out for the comparison, if that is at most this share of them."""
_SHIFT = 16
"""Photos are shifted by up to this part of their side."""


def check_tunable(settings: RunConfig, train: Dataset) -> None:
    """Refuse fine-tuning of what cannot be fine-tuned, before any work is done.

    Args:
        settings: The user's settings.
        train: The training data as it came.

    Raises:
        InputError: The data is not photos, or a network is trained from scratch.
    """
    tune = settings.tune
    if tune.what == "none" and tune.minutes:
        raise InputError("--minutes is time for fine-tuning, and --tune none leaves it out; give one of the two")
    if tune.what == "head" and tune.minutes:
        raise InputError("--minutes is time for fine-tuning an encoder; a head is trained for --epochs; leave it out")
    if not _asks_for_all(tune):
        return
    kind = kind_of(train.inputs)
    if kind != "image":
        what = {"text": "texts are encoded by fixed vectors", "table": "a table has no pretrained network"}
        why = what.get(kind, "vectors have no network below them")
        raise InputError(f"{train.name}: only photos can be fine-tuned, {why}; leave out --minutes and --tune all")
    if settings.backbone.name not in ("auto", "none") or settings.features.encoder is None:
        raise InputError(
            "what is trained from scratch cannot be fine-tuned; leave out --backbone, or --minutes and --tune"
        )


def may_be_tuned(settings: RunConfig, data: RunData) -> bool:
    """Tell whether fine-tuning is possible and the user has not said anything about it.

    Args:
        settings: The user's settings.
        data: The data of the run.

    Returns:
        Whether a hint is worth a line.
    """
    tune = settings.tune
    return isinstance(data.encoder, PhotoEncoder) and tune.what == "auto" and tune.minutes is None


def _asks_for_all(tune: TuneConfig) -> bool:
    return tune.what == "all" or (tune.what == "auto" and bool(tune.minutes))


def resolve_tuning(settings: RunConfig, decision: Decision, data: RunData) -> Decision:
    """Settle what follows from data and look; ``epochs`` and ``samples`` may wait for :meth:`FineTuning.plan`.

    Args:
        settings: The user's settings.
        decision: What was decided about the frozen answer.
        data: The data of the run.

    Returns:
        The decision with the ``tune`` part of its configuration settled.

    Raises:
        InputError: The data was not encoded by a network for photos.
    """
    tune = settings.tune
    if not _asks_for_all(tune):
        asked = TuneConfig(what="head" if tune.what == "head" else "none")
        return replace(decision, config=decision.config.model_copy(update={"tune": asked}))
    if not isinstance(data.encoder, PhotoEncoder):
        raise InputError(
            f"{data.labelled.name}: there is no pretrained network to fine-tune; "
            f"pip install 'anchored[photos]', or leave out --minutes and --tune"
        )
    n, held = len(data.labelled), decision.config.data.hold_out
    assert not isinstance(held, str), "resolved before"
    known: dict[str, Any] = {"what": "all"}
    if tune.hold_out == "auto":
        known["hold_out"] = held or max(hold_out_share(n), round(min(_MOST_HELD_OUT, _ENOUGH_HELD_OUT / n), 4))
    if tune.labels == "auto":
        known["labels"] = "given" if decision.trusted is None else "replaced"
    if tune.augment == "auto":
        shift = min(data.encoder.view.height or 0, data.encoder.view.width or 0) // _SHIFT
        known["augment"] = (*((f"crop={shift}",) if shift else ()), "flip")
    if tune.epochs is None and tune.minutes is None:
        said = settings.train.epochs if "epochs" in settings.train.model_fields_set else _PASSES
        known["epochs"] = said
    settled = tune.model_copy(update=known)
    if settled.hold_out == 0:
        raise InputError(
            f"{data.labelled.name}: {n} photos are too few to fine-tune on and to hold some out; "
            f"leave out --minutes and --tune"
        )
    return replace(decision, config=decision.config.model_copy(update={"tune": settled}))


def model_config(config: RunConfig) -> RunConfig:
    """Return the configuration of the fine-tuned classifier: a map to the anchors on vectors of the tuned encoder.

    Args:
        config: The resolved configuration of the run.

    Example:
        >>> from anchored.training import validate
        >>> model_config(validate({"tune": {"what": "all", "epochs": 2, "hold_out": 0.1}})).method.name
        'tuned'
    """
    tune = config.tune
    return config.model_copy(
        update={
            "data": config.data.model_copy(update={"hold_out": tune.hold_out, "augment": (), "normalize": "none"}),
            "method": MethodConfig(name=_METHOD, noise_rate=0.0, options={"map_factor": tune.map_factor}),
            "backbone": BackboneConfig(name="none"),
            "optimizer": OptimizerConfig(name="adamw", lr=tune.lr, weight_decay=tune.weight_decay),
            "schedule": ScheduleConfig(options={"warm_epochs": _WARM_UP * (tune.epochs or 1), "start": 0.0}),
            "second": None,
            "train": config.train.model_copy(
                update={
                    "epochs": tune.epochs or 1,
                    "samples": tune.samples,
                    "batch_size": tune.batch_size,
                    "ema": tune.ema,
                    "early_stop": None,
                    "labels": "given",
                    "precision": "32",
                    "compile": False,
                }
            ),
        }
    )


def was_tuned(result: Mapping[str, Any]) -> bool:
    """Tell by ``result.json`` whether the model of a run is the fine-tuned one.

    Example:
        >>> was_tuned({"tuning": {"kept": "tuned"}}), was_tuned({"tuning": {"kept": None}}), was_tuned({})
        (True, False, False)
    """
    return (result.get("tuning") or {}).get("kept") == "tuned"


def kept_config(config: RunConfig, result: Mapping[str, Any]) -> RunConfig:
    """Return the configuration of the model that a run has kept: of the frozen answer or of the fine-tuned one.

    Args:
        config: The resolved configuration of the run.
        result: Its final numbers.

    Example:
        >>> from anchored.training import validate
        >>> config = validate({"method": {"name": "ridge"}, "tune": {"what": "all", "epochs": 2, "hold_out": 0.1}})
        >>> [kept_config(config, {"tuning": {"kept": kept}}).method.name for kept in ("frozen", "tuned")]
        ['ridge', 'tuned']
    """
    return model_config(config) if was_tuned(result) else config


def held_out_likelihood(
    logits: Tensor, labels: Tensor, *, weights: Tensor | None = None, generator: torch.Generator | None = None
) -> float:
    r"""Compute the mean log-probability of labels as they are given, under the noise law that suits the model best.

    .. math::  \frac1n \sum_i \log \sum_j p_j(x_i)\, M_{j \tilde y_i}, \qquad
               \mathbf p(x) = \operatorname{softmax}(\mathbf f(x) / T + \mathbf b),

    with M, T and b of :func:`anchored.audit.fit_label_noise`. Without M, a model that is sure of the truth would pay
    for each wrong label, and one that hedges between classes that people mistake for each other would be rewarded.

    Args:
        logits: ``(n, k)``, of a model that did not see these labels.
        labels: ``(n,)``, as given.
        weights: ``(n,)``, how much each sample counts, or None.
        generator: Chooses the samples on which the law is fitted if there are more than 20,000.

    Returns:
        The mean log-probability.

    Example:
        >>> logits = 4.0 * torch.eye(3).repeat(20, 1)
        >>> labels = torch.arange(60) % 3
        >>> held_out_likelihood(logits, labels) > held_out_likelihood(logits, labels.roll(7) * (labels > 0))
        True
    """
    law = fit_label_noise(logits, labels, weights=weights, generator=generator)
    given = (law.probabilities(logits) @ law.transition).gather(1, labels[:, None])[:, 0]
    each = torch.ones_like(given) if weights is None else weights.to(given)
    return float(given.clamp(min=torch.finfo(given.dtype).tiny).log() @ each / each.sum())


@dataclass(frozen=True, eq=False)
class Tuned:
    """What fine-tuning gave.

    Attributes:
        setup: The classifier on vectors of the tuned encoder, as the end of a run takes it.
        data: The data of the run, encoded by the tuned encoder.
        about: What was done and found, for ``result.json``; ``about["kept"]`` is ``"tuned"`` or ``"frozen"``.
    """

    setup: TrainingSetup
    data: RunData
    about: dict[str, Any]


class FineTuning:
    """One fine-tuning: its photos at the network's size, its plan, its training.

    Args:
        decision: What was decided; its ``tune`` part is settled.
        data: The data of the run.
        look: What the look at the labels has found, or None.
        runtime: The processes that share the work.
    """

    def __init__(self, decision: Decision, data: RunData, look: Look | None, runtime: Runtime) -> None:
        assert isinstance(data.encoder, PhotoEncoder), "checked before"
        self.decision, self.data, self.look, self.runtime = decision, data, look, runtime
        self.encoder = data.encoder

    @property
    def config(self) -> RunConfig:
        """The configuration of the run."""
        return self.decision.config

    @cached_property
    def _pixels(self) -> Dataset:
        """The photos of the run at the network's size, under the labels given."""
        raw = self.data.raw
        return replace(self.data.labelled, inputs=photo_pixels(raw.inputs, self.encoder), columns=None)

    def _learnt(self, dataset: Dataset) -> Dataset:
        """``dataset`` under the labels and weights to learn."""
        labels = self.config.tune.labels
        if self.look is None or not self.look.knowable or labels == "given":
            return dataset
        return trust_labels(dataset, self.look.posterior, labels).dataset

    def _setup(self, config: RunConfig, *, bare: bool = False) -> TrainingSetup:
        """The training of the network; ``bare`` scores nothing."""
        engine = model_config(config)
        augment = config.tune.augment
        engine = engine.model_copy(
            update={
                "data": engine.data.model_copy(update={"augment": augment}),
                "backbone": BackboneConfig(name=OWN_BACKBONE),
            }
        )
        pixels = replace(self.data, labelled=self._pixels, test=None)
        parts = pixels.parts(engine, self._learnt(self._pixels))
        if bare:
            parts = Parts(parts.train)
        return TrainingSetup(engine, parts, self.runtime, TunedBackbone(self.encoder))

    def _start(self, setup: TrainingSetup) -> None:
        """Begin with the closed form on the frozen features of what is trained on."""
        parts = self.data.parts(setup.config, self._learnt(self.data.labelled))
        rows = parts.train.inputs.take(torch.arange(len(parts.train))).to(torch.float64)
        ridge = fit_ridge(rows, parts.train.labels, parts.train.k, weights=parts.train.weights)
        start_from(setup.network, ridge)
        if setup.state.average is not None:
            setup.state.average.module.load_state_dict(setup.network.state_dict())

    def plan(self, seconds: float, *, tested: int = 0) -> tuple[Decision, str]:
        """Choose epochs and photos per epoch so that everything ends in ``seconds``.

        A few steps are timed; the time to encode all photos again at the end is set aside.

        Args:
            seconds: Time that is left of the budget.
            tested: Photos of the test part, which are encoded at the end as well.

        Returns:
            The decision with a plan, or with ``tune.what`` none if the time is too short; and a sentence about it.
        """
        tune, n = self.config.tune, len(self.data.labelled)
        if tune.epochs is not None:
            passes = "" if tune.samples is None else f" of {tune.samples:,} photos"
            return self.decision, f"fine-tuning follows: {tune.epochs} epochs{passes}, as the configuration says"
        begun = time.monotonic()
        trial = tune.model_copy(update={"epochs": 1, "samples": tune.batch_size * (_MEASURED_STEPS + _WARM_STEPS)})
        setup = self._setup(self.config.model_copy(update={"tune": trial}), bare=True)
        clock = _Stopwatch()
        setup.run(progress=clock)
        step, forward = clock.step_seconds, _forward_seconds(setup)
        step, forward = self._agreed([step, forward])
        held = len(setup.train_set) and int(n * float(tune.hold_out))
        views = 2 if self.encoder.view.mirrored else 1
        left = (seconds - (time.monotonic() - begun)) * (1 - _SPARE) - (n + tested) * views * forward
        trained = n - held
        scoring = held * forward
        epochs = max(1, round(left / _EPOCH_SECONDS))
        steps = int((left - epochs * scoring) / step)
        steps = min(steps, math.ceil(_MOST_PASSES * trained / tune.batch_size))
        rate = tune.batch_size / step
        if steps < _FEWEST_STEPS:
            config = self.config.model_copy(update={"tune": TuneConfig(what="none")})
            said = f"the time is too short for fine-tuning ({rate:,.0f} photos a second): the frozen answer stays"
            return replace(self.decision, config=config), said
        epochs = min(epochs, max(1, round(steps * step / _EPOCH_SECONDS)), steps)
        planned = tune.model_copy(update={"epochs": epochs, "samples": steps // epochs * tune.batch_size})
        self.decision = replace(self.decision, config=self.config.model_copy(update={"tune": planned}))
        share = epochs * (planned.samples or 0) / trained
        return self.decision, (
            f"fine-tuning follows, for about {_minutes(steps * step)}: {share:.1f} passes through {trained:,} photos "
            f"at {rate:,.0f} a second"
        )

    def _agreed(self, numbers: list[float]) -> list[float]:
        """What the main process measured, in all processes."""
        mine = torch.tensor(numbers if self.runtime.main else [0.0] * len(numbers), dtype=torch.float64)
        said: list[float] = self.runtime.sum(mine).tolist()
        return said

    def train(
        self,
        *,
        checkpoint: Checkpoint | None = None,
        save: Callable[[State], None] = lambda state: None,
        progress: Progress | None = None,
    ) -> TrainingSetup:
        """Fine-tune from the closed form, or from where ``checkpoint`` was written.

        Args:
            checkpoint: The state to go on from, or None.
            save: Called with a state worth keeping.
            progress: Is told what happens.

        Returns:
            The finished training of the network on pixels.
        """
        setup = self._setup(self.config)
        if checkpoint is None:
            self._start(setup)
        else:
            setup.restore(checkpoint)
        setup.run(save=save, progress=progress)
        return setup

    def finish(self, trained: TrainingSetup, frozen: TrainingSetup, test: Dataset | None) -> Tuned:
        """Make an encoder and a classifier of the trained network, and compare it with the frozen answer.

        Args:
            trained: What :meth:`train` returned.
            frozen: The finished training on frozen features.
            test: The test part as it came, or None.

        Returns:
            The fine-tuned classifier, its data, and which of the two is better.
        """
        network = trained.scored
        assert isinstance(network, Classifier)
        assert isinstance(network.backbone, TunedBackbone)
        encoder = self.encoder.with_network(network.backbone.network)
        raw = self.data.raw
        labelled = replace(self.data.labelled, inputs=encode(raw, encoder).inputs)
        data = replace(
            self.data,
            labelled=labelled,
            uncorrected=replace(self.data.uncorrected, inputs=labelled.inputs),
            test=None if test is None else encode(test, encoder),
            encoder=encoder,
        )
        config = model_config(self.config)
        setup = TrainingSetup(config, data.parts(config), self.runtime)
        held_part = {name: value for name, value in network.state_dict().items() if not name.startswith("backbone.")}
        setup.network.load_state_dict(held_part)
        if setup.state.average is not None:
            setup.state.average.module.load_state_dict(held_part)
        setup.state.history[:] = trained.state.history
        held = data.held_index(config)
        assert held is not None, "a share is held out"
        labels, weights = labelled.labels[held], labelled.weights
        weights = None if weights is None else weights[held]
        left_out = frozen.left_out
        before = frozen.answers(self.data.labelled.subset(held)).logits if left_out is None else left_out[held]
        assert setup.held_out is not None
        after = setup.answers(setup.held_out).logits
        likely = {
            name: held_out_likelihood(
                logits, labels, weights=weights, generator=stream(config.train.seed, "noise rate")
            )
            for name, logits in (("frozen", before), ("tuned", after))
        }
        kept = max(likely, key=lambda name: (likely[name], name == "frozen"))
        return Tuned(setup, data, {"kept": kept, "held_out_log_likelihood": likely, **self._facts(trained)})

    def _facts(self, trained: TrainingSetup) -> dict[str, Any]:
        tune, history = self.config.tune, trained.state.history
        seen = sum(int(record.get("samples") or 0) for record in history)
        return {
            "epochs": len(history),
            "photos_seen": seen,
            "passes": seen / len(trained.train_set),
            "held_out": 0 if trained.held_out is None else len(trained.held_out),
            "labels": tune.labels,
            "history": [_shown(record) for record in history],
        }


def told(about: dict[str, Any]) -> str:
    """Say in a sentence which answer is kept, and why."""
    likely = about["held_out_log_likelihood"]
    kept, other = ("fine-tuned", "frozen") if about["kept"] == "tuned" else ("frozen", "fine-tuned")
    first, second = likely[about["kept"]], likely["frozen" if about["kept"] == "tuned" else "tuned"]
    return (
        f"the {kept} answer is kept: it makes {about['held_out']:,} held-out labels likelier than the {other} one "
        f"(mean log-probability {first:.3f} against {second:.3f})"
    )


def _shown(record: EpochRecord) -> dict[str, float | int | None]:
    names = ("epoch", "train_loss", "held_out_loss", "held_out_accuracy", "test_accuracy")
    return {name: record[name] for name in names if name in record}


def _forward_seconds(setup: TrainingSetup) -> float:
    """Seconds that the network takes to answer about one photo."""
    count = min(len(setup.train_set), 2 * setup.batch_size)
    part = setup.train_set.subset(torch.arange(count))
    begun = time.perf_counter()
    setup.answers(part)
    return (time.perf_counter() - begun) / count


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} minutes"


class _Stopwatch(Progress):
    """Times steps of training, leaving out the first ones."""

    def __init__(self) -> None:
        self._ends: list[float] = []

    def step(self, *, batch: int, samples: int, loss: float) -> None:
        self._ends.append(time.perf_counter())

    @property
    def step_seconds(self) -> float:
        """The usual time of a step."""
        took = [after - before for before, after in zip(self._ends, self._ends[1:], strict=False)]
        return median(took[_WARM_STEPS - 1 :]) if took else _EPOCH_SECONDS

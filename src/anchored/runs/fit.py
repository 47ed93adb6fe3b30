"""A run from start to end: data, look, decide, train, conclude."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from anchored._progress import EncodingProgress, Progress
from anchored.data import Dataset, Split
from anchored.runs.conclude import conclude
from anchored.runs.data import RunData
from anchored.runs.decide import Decision, decide
from anchored.runs.folder import RunFolder
from anchored.runs.look import Look, look_at_labels
from anchored.runs.model import TrainedModel
from anchored.runs.tune import FineTuning, check_tunable, may_be_tuned, resolve_tuning, told
from anchored.training import (
    EpochRecord,
    RunConfig,
    Runtime,
    State,
    TrainingSetup,
    check_possible,
    is_main_process,
    make_runtime,
    precision_warning,
    validate,
)

__all__ = ["Fitted", "fit"]


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a run gives back.

    Attributes:
        model: The trained model, ready to use.
        config: Everything that decided the result.
        history: One record per epoch.
        result: The final numbers, as in ``result.json``.
        data: The data of the run.
        look: What the look at the labels has found, or None if there was none.
        left_out: Logits ``(n, k)`` of the training samples from models that did not see them, if the method computes
            such; else None.
    """

    model: TrainedModel
    config: RunConfig
    history: list[EpochRecord]
    result: dict[str, Any]
    data: RunData
    look: Look | None = None
    left_out: Tensor | None = None


def fit(
    split: Split,
    settings: Mapping[str, Any] | RunConfig | None = None,
    *,
    folder: RunFolder | str | Path | None = None,
    module: nn.Module | None = None,
    progress: Progress | None = None,
    usable: Callable[[Fitted], None] = lambda fitted: None,
) -> Fitted:
    """Train on ``split.train``, calibrate, and score on ``split.test`` if there is one.

    Args:
        split: The data; ``settings["data"]["corrupt"]`` and then ``["corrections"]`` are applied to the training part.
        settings: A nested dictionary, see :class:`~anchored.training.RunConfig`; what is not named follows the recipe
            for this kind of data, and what is ``auto`` may be decided by a look at the labels.
        folder: The folder of the run: a path for a new one; ``RunFolder.open(path)`` goes on with a started one.
            None keeps nothing.
        module: A backbone of your own, instead of the configured one; every model trains a copy.
        progress: Is told what happens.
        usable: Called with the answer on frozen features, which can be used while fine-tuning goes on.

    Returns:
        The model and the numbers; ``result["auto"]`` says what the look found and what was chosen.

    Raises:
        InputError: The data or a setting cannot be used; nothing was written. Or another process works on the folder.

    Example:
        >>> from anchored.data import load_digits
        >>> fitted = fit(load_digits(), {"data": {"corrupt": ["symmetric=0.4"]}, "train": {"epochs": 8}})
        >>> abs(fitted.result["auto"]["noise_rate"] - 0.4) < 0.08
        True
        >>> fitted.config.method.name, fitted.config.train.labels
        ('ce+fnpal', 'cleaned')
    """
    settings = validate(settings or {})
    progress = progress if progress is not None and is_main_process() else Progress()
    run = folder if isinstance(folder, RunFolder) or folder is None else RunFolder.plan(folder)
    began = time.monotonic()
    check_tunable(settings, split.train)
    with nullcontext() if run is None else run.owned():
        data = RunData.open(split, settings, own_module=module is not None, progress=progress.encoding)
        data.check_trainable()
        settings = settings.model_copy(update={"features": data.features})
        runtime = make_runtime(settings.train.device, settings.train.precision)  # from here on, all processes together
        if warning := precision_warning(runtime.device, settings.train.precision):
            progress.say(warning)
        look = look_at_labels(data, settings, run, module=module, progress=progress)
        decision = resolve_tuning(settings, decide(settings, data, look), data)
        tuning = None
        if decision.config.tune.what == "all":
            tuning = FineTuning(decision, data, look, runtime)
            left = 60 * (decision.config.tune.minutes or 0) - (time.monotonic() - began)
            decision, plan = tuning.plan(left, tested=0 if split.test is None else len(split.test))
            tuning = tuning if decision.config.tune.what == "all" else None
            progress.say(plan)
        setup = train(decision, data, runtime, run, module=module, progress=progress)
        if tuning is not None and run is not None and runtime.main:
            run.tuning.make()  # before the frozen answer is written, which would otherwise look like the last word
        model, result = conclude(
            setup, decision, data, look, run, tuning=None if tuning is None else {"kept": None, "text": plan}
        )
        fitted = Fitted(model, decision.config, setup.state.history, result, data, look, setup.left_out)
        if tuning is None and may_be_tuned(settings, data):
            progress.say("the network below stays as it is; --minutes 10 fine-tunes it for what is left of ten minutes")
        if tuning is not None:
            usable(fitted)
            fitted = _tune(tuning, fitted, setup, split.test, run, progress=progress)
    return fitted


def _tune(
    tuning: FineTuning,
    fitted: Fitted,
    frozen: TrainingSetup,
    test: Dataset | None,
    run: RunFolder | None,
    *,
    progress: Progress,
) -> Fitted:
    """Fine-tune after the frozen answer, and keep the better of the two."""
    own = None if run is None else run.tuning
    keep = own if tuning.runtime.main else None
    checkpoint = None if own is None else own.read_checkpoint()
    done = 0 if checkpoint is None else int(checkpoint.facts["epoch"])
    if keep is not None and checkpoint is not None:
        # A crash may have come between the last checkpoint and its history.
        keep.write_lines("history.jsonl", checkpoint.facts["history"])
    trained = tuning.train(
        checkpoint=checkpoint,
        save=lambda state: _save(keep, state),
        progress=progress if keep is None else _SpeedKeeper(progress, keep, done),
    )
    tuned = tuning.finish(trained, frozen, test)
    about = {**tuned.about, "text": told(tuned.about)}
    progress.say(about["text"])
    if about["kept"] == "frozen":
        result = {**fitted.result, "tuning": about}
        if run is not None and tuning.runtime.main:
            run.write_result(result)
        return replace(fitted, result=result)
    if run is not None and keep is not None:
        for name in ("history.jsonl", "speed.jsonl"):
            run.write_lines(name, keep.read_lines(name))
    model, result = conclude(tuned.setup, tuning.decision, tuned.data, fitted.look, run, tuning=about)
    return replace(fitted, model=model, history=tuned.setup.state.history, result=result, data=tuned.data)


def train(
    decision: Decision,
    data: RunData,
    runtime: Runtime,
    run: RunFolder | None,
    *,
    module: nn.Module | None = None,
    progress: Progress,
) -> TrainingSetup:
    """Train as decided, from the run's checkpoint if there is one, and keep checkpoints in the run.

    Args:
        decision: The resolved configuration, and the labels to train on.
        data: The data of the run.
        runtime: The processes that share the work.
        run: The folder of the run, or None to keep nothing.
        module: A backbone of the user's own.
        progress: Is told what happens.

    Returns:
        The finished training.
    """
    config = decision.config
    check_possible(config, data.labelled.counts, data.labelled.inputs.shape, module)
    trusted = None if decision.trusted is None else decision.trusted.dataset
    setup = TrainingSetup(config, data.parts(config, trusted), runtime, copy.deepcopy(module))
    # Only now, when every setting has proved possible: a refusal leaves nothing behind.
    if run is not None:
        run.settle(config)
        checkpoint = run.read_checkpoint()
        if checkpoint is not None:
            setup.restore(checkpoint)
    if decision.reasons is not None:
        progress.say(decision.reasons["text"])
    if data.corrections:
        progress.say(_corrections_text(data.corrections))
    keep = run if run is not None and runtime.main else None
    if keep is not None:
        # A crash may have come between the last checkpoint and its history.
        keep.write_lines("history.jsonl", setup.state.history)
    setup.run(
        save=lambda state: _save(keep, state),
        progress=progress if keep is None else _SpeedKeeper(progress, keep, setup.state.epoch),
    )
    return setup


def _save(run: RunFolder | None, state: State) -> None:
    if run is not None:
        run.write_checkpoint(state.checkpoint())


def _corrections_text(corrections: Mapping[str, Any]) -> str:
    changed, decided = corrections["changed"], corrections["decided"]
    return f"{changed} label{'s' * (changed != 1)} changed by {decided} decisions in {corrections['file']}"


class _SpeedKeeper(Progress):
    """Passes everything on, and keeps each epoch's speed with the run."""

    def __init__(self, inner: Progress, run: RunFolder, done: int) -> None:
        self.inner, self.run = inner, run
        self.speed = run.read_lines("speed.jsonl")[:done]

    def start(self, *, epochs: int, epoch: int, batches: int, samples: int) -> None:
        self.inner.start(epochs=epochs, epoch=epoch, batches=batches, samples=samples)

    def step(self, *, batch: int, samples: int, loss: float) -> None:
        self.inner.step(batch=batch, samples=samples, loss=loss)

    def epoch(self, record: Mapping[str, float | int | None], *, seconds: float, samples: int) -> None:
        self.inner.epoch(record, seconds=seconds, samples=samples)
        rate = samples / seconds if seconds > 0 else None
        self.speed.append({"epoch": record["epoch"], "seconds": seconds, "samples_per_second": rate})
        self.run.write_lines("speed.jsonl", self.speed)

    def encoding(self) -> EncodingProgress:
        return self.inner.encoding()

    def say(self, line: str) -> None:
        self.inner.say(line)

    def stop(self) -> None:
        self.inner.stop()

"""From data and a configuration to a trained, calibrated model: the whole way in one function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from anchored._errors import InputError
from anchored.data import Dataset, Split
from anchored.training.config import RunConfig, validate
from anchored.training.finish import finish
from anchored.training.loop import train
from anchored.training.prepare import prepare
from anchored.training.progress import Progress
from anchored.training.resolve import resolve
from anchored.training.run_folder import RunFolder
from anchored.training.runtime import Runtime, make_runtime
from anchored.training.state import Record, State
from anchored.training.trained import TrainedModel
from anchored.training.work import Work

__all__ = ["Fitted", "fit"]


@dataclass(frozen=True)
class Fitted:
    """What a run gives back.

    Attributes:
        model: Ready to use.
        config: Everything that decided the result.
        history: One record per epoch.
        result: The final numbers, as in ``result.json``.
    """

    model: TrainedModel
    config: RunConfig
    history: list[Record]
    result: dict[str, Any]


def fit(
    split: Split,
    settings: Mapping[str, Any] | None = None,
    *,
    folder: RunFolder | str | Path | None = None,
    module: nn.Module | None = None,
    progress: Progress | None = None,
    targets: Dataset | None = None,
    truth: Tensor | None = None,
) -> Fitted:
    """Train on ``split.train``, calibrate, and score on ``split.test`` where there is one.

    Args:
        split: The data; ``settings["data"]["corrupt"]`` and then ``["corrections"]`` are applied to the training part
            here.
        settings: A nested dictionary, see :class:`~anchored.training.config.RunConfig`; what is not
            named follows the recipe for this kind of data.
        folder: Where the run is kept: a path for a new one; ``RunFolder.open(path)`` takes up a started one
            where it stopped. None keeps nothing.
        module: A backbone of your own, instead of the configured one.
        progress: Is told what happens.
        targets: The prepared training data under the labels and weights to learn instead, as ``train.labels = cleaned``
            needs them. What is held out keeps the labels given. :func:`anchored.auto.fit` makes them.
        truth: Probabilities ``(n, k)`` of the true labels of the prepared training data, where a look at the labels has
            found them. The temperature is fitted to those of the held-out samples, and ``result["estimated"]`` says
            how good the model is if they hold; nothing is trained on them.

    Example:
        >>> from anchored.data import load_digits
        >>> fitted = fit(load_digits(), {"method": {"name": "ce+fnpal"}, "train": {"epochs": 1}})
        >>> fitted.result["test"]["accuracy"] > 0.5
        True
    """
    progress = Progress() if progress is None else progress
    asked = validate(settings or {})
    prepared = prepare(split.train, asked)
    data = prepared.dataset
    _check_trainable(data)
    config = prepared.pin(resolve(settings or {}, data))
    if (targets is not None) != (config.train.labels == "cleaned"):
        raise InputError(
            f"train.labels is {config.train.labels} and targets are {'given' if targets is not None else 'missing'}; "
            f"call anchored.auto.fit, which makes them"
        )
    if truth is not None and truth.shape != (len(data), data.k):
        raise InputError(
            f"truth must be ({len(data)}, {data.k}), a row of probabilities per sample, got {tuple(truth.shape)}"
        )
    # Before the processes meet: the first of them to go on would fill the folder, and the others find it taken.
    run = folder if isinstance(folder, RunFolder) or folder is None else RunFolder.plan(folder)
    runtime = make_runtime(config.train.device, config.train.precision)
    work = Work(config, data, split.test, runtime, module, targets=targets, truth=truth)
    # Only now, when every setting has proved possible: a refusal leaves nothing behind.
    if run is not None:
        _take_up(run, config, work, runtime)
    if prepared.corrections and runtime.main:
        progress.say(_about(prepared.corrections))
    speed = [] if run is None else run.read_lines("speed.jsonl")[: work.state.epoch]
    recorder = _Recorder(progress if runtime.main else Progress(), run if runtime.main else None, speed)
    _train_stages(work, runtime, run, recorder)
    model, result = finish(work, prepared)
    if run is not None and runtime.main:
        model.save(run.path)
        run.write_result(result)
    return Fitted(model, config, work.state.history, result)


def _about(corrections: Mapping[str, Any]) -> str:
    changed, decided = corrections["changed"], corrections["decided"]
    return f"{changed} label{'s' * (changed != 1)} changed by {decided} decisions in {corrections['file']}"


def _train_stages(work: Work, runtime: Runtime, run: RunFolder | None, progress: Progress) -> None:
    """Every stage from where the state is, the next one entered where one has ended."""
    while True:
        if len(work.stages) > 1:
            progress.say(f"stage {work.state.stage + 1} of {len(work.stages)}: {work.stage.name}")
        if work.stage.trained:
            train(
                work.plan,
                work.state,
                work.train_batches,
                runtime=runtime,
                score=work.score,
                save=lambda state: _save(run, state, runtime),
                progress=progress,
            )
        if work.last:
            return
        work.enter()


class _Recorder(Progress):
    """Passes everything on, and keeps each epoch's speed with the run."""

    def __init__(self, inner: Progress, run: RunFolder | None, speed: list[dict[str, Any]]) -> None:
        self.start, self.step, self.say, self.stop = inner.start, inner.step, inner.say, inner.stop  # type: ignore[method-assign]
        self.inner, self.run, self.speed = inner, run, speed

    def epoch(self, record: Mapping[str, float | int | None], *, seconds: float, samples: int) -> None:
        self.inner.epoch(record, seconds=seconds, samples=samples)
        if self.run is not None:
            rate = samples / seconds if seconds > 0 else None
            self.speed.append({"epoch": record["epoch"], "seconds": seconds, "samples_per_second": rate})
            self.run.write_lines("speed.jsonl", self.speed)


def _take_up(run: RunFolder, config: RunConfig, work: Work, runtime: Runtime) -> None:
    """Bring the state to the run's checkpoint, where there is one, and the folder to what the state is."""
    checkpoint = run.read_checkpoint()
    if checkpoint is not None:
        for _ in range(checkpoint.facts["stage"]):
            work.enter(fill=False)  # its values are in the checkpoint
        work.state.restore(checkpoint)
        if not runtime.main:
            work.state.sums.zero_()  # the main process goes on with the sums of all
    if runtime.main:
        run.make()
        run.sweep()
        if not run.started or run.read_config() != config:
            run.write_config(config)
        # A crash may have come between the last checkpoint and its history.
        run.write_lines("history.jsonl", work.state.history)


def _save(run: RunFolder | None, state: State, runtime: Runtime) -> None:
    if run is not None and runtime.main:
        run.write_checkpoint(state.checkpoint())


def _check_trainable(data: Dataset) -> None:
    if not data.labelled:
        raise InputError(f"{data.name}: every training sample needs a label; give a label column or class folders")
    if data.k < 2:
        raise InputError(f"{data.name}: only one class, {data.class_names[0]!r}; a classifier needs at least two")
    missing = [name for name, count in zip(data.class_names, data.counts.tolist(), strict=True) if count == 0]
    if missing:
        raise InputError(f"{data.name}: no training sample of class {missing[0]!r}; add some, or leave the class out")

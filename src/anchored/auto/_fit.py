"""Training that looks at the labels first: two short models judge them, the rest is decided, then one model is trained.

The look costs about a third of one training, and is taken only where something was left to it: ``method.name`` or
``method.noise_rate`` is auto, or ``train.labels`` is cleaned. Everything else is :func:`anchored.training.fit`. What
the two models said, and what was chosen, is kept in the run under ``pilot``, where a run that was stopped finds it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from anchored._files import write_json
from anchored._random import stream
from anchored.audit import CrossFit, LabelNoise, cross_fit, judge
from anchored.audit.label_noise import FEWEST_PER_CLASS
from anchored.auto.choice import Choice, choose
from anchored.auto.targets import make_targets
from anchored.data import CorruptionPlan, Dataset, Split
from anchored.methods import parse
from anchored.training import Fitted, Progress, RunConfig, RunFolder
from anchored.training import fit as train
from anchored.training.config import merge, validate
from anchored.training.prepare import prepare
from anchored.training.resolve import resolve

__all__ = ["PILOT", "Looked", "fit", "judgement", "looks_first"]

PILOT, CHOICE = "pilot", "choice.json"
_SMALL = 200


@dataclass(frozen=True)
class Looked(Fitted):
    """What training gives, and the look that came before it; None where there was none."""

    crossed: CrossFit | None = None


def fit(
    split: Split,
    settings: Mapping[str, Any] | None = None,
    *,
    folder: RunFolder | str | Path | None = None,
    module: nn.Module | None = None,
    progress: Progress | None = None,
) -> Looked:
    """Train as :func:`anchored.training.fit` does, with what is ``auto`` decided by a look at the labels.

    Args:
        split: The data.
        settings: A nested dictionary, see :class:`~anchored.training.RunConfig`.
        folder: Where the run is kept, or None.
        module: A backbone of your own; every model trains a copy.
        progress: Is told what happens.

    Returns:
        The same as training gives; ``result["auto"]`` says what was found and chosen.

    Example:
        >>> from anchored.data import load_digits
        >>> fitted = fit(load_digits(), {"data": {"corrupt": ["symmetric=0.4"]}, "train": {"epochs": 8}})
        >>> abs(fitted.result["auto"]["noise_rate"] - 0.4) < 0.08
        True
        >>> fitted.config.method.name, fitted.config.train.labels
        ('ce+fnpal', 'cleaned')
    """
    settings = dict(settings or {})
    asked = validate(settings)
    progress = Progress() if progress is None else progress
    run = folder if isinstance(folder, RunFolder) or folder is None else RunFolder.plan(folder)
    data = prepare(split.train, asked).dataset
    targets: Dataset | None = None
    crossed: CrossFit | None = None
    posterior: Tensor | None = None
    if run is not None and run.started:
        # Everything was decided when the run began; only the labels that it trains on have to be made again.
        if asked.train.labels == "cleaned" or (run.path / PILOT / CHOICE).is_file():
            crossed = _crossed(data, settings, run, module, progress)
            _, posterior = judgement(crossed, data, asked)
        if asked.train.labels == "cleaned" and posterior is not None:
            targets = make_targets(data, posterior).dataset
    elif looks_first(settings, data):
        crossed = _crossed(data, settings, run, module, progress)
        noise, posterior = judgement(crossed, data, asked)
        choice = choose(settings, resolve(_open(settings), data), data, noise, posterior)
        if _first():
            progress.say(choice.text)
        settings = merge(settings, choice.settings)
        targets = None if choice.targets is None else choice.targets.dataset
        progress = _Keeping(progress, run, crossed, choice)
    fitted = train(split, settings, folder=run, module=module, progress=progress, targets=targets, truth=posterior)
    result = _told(fitted.result, run, progress)
    return Looked(fitted.model, fitted.config, fitted.history, result, crossed)


def looks_first(settings: Mapping[str, Any], dataset: Dataset) -> bool:
    """Whether something in ``settings`` waits for a look at the labels, and ``dataset`` is large enough for one."""
    if not dataset.labelled or len(dataset) <= _SMALL or len(dataset) < FEWEST_PER_CLASS * dataset.k:
        return False
    asked = validate(settings)
    if asked.method.name == "auto" or asked.train.labels == "cleaned":
        return True
    if asked.method.noise_rate != "auto" or asked.method.scale != "auto" or not parse(asked.method.name).noise_aware:
        return False
    # A run that adds the noise itself knows the rate, as the published experiments do; unless it asks not to be told.
    told = CorruptionPlan.parse(asked.data.corrupt).noise is not None
    return not told or settings.get("method", {}).get("noise_rate") == "auto"


def _open(settings: Mapping[str, Any]) -> dict[str, Any]:
    """``settings`` with a method of one stage where none is named, so that the rest can be resolved."""
    named = settings.get("method", {}).get("name", "auto") != "auto"
    return dict(settings) if named else merge(settings, {"method": {"name": "ce+fnpal"}})


def _crossed(
    data: Dataset, settings: Mapping[str, Any], run: RunFolder | None, module: nn.Module | None, progress: Progress
) -> CrossFit:
    kept = None if run is None else CrossFit.load(run.path / PILOT, n=len(data))
    if kept is not None:
        return kept
    if _first():
        progress.say("a look at the labels first: two short trainings, each on half of the data, judge the other half")
    return cross_fit(data, resolve(_open(settings), data).as_dict(), module=module, progress=progress)


def judgement(crossed: CrossFit, data: Dataset, config: RunConfig) -> tuple[LabelNoise, Tensor]:
    """The noise of the labels of ``data`` and the posterior ``(n, k)`` of the true ones, the same each time."""
    return judge(data, crossed.logits, generator=stream(config.train.seed, "noise rate"))


def _told(result: dict[str, Any], run: RunFolder | None, progress: Progress) -> dict[str, Any]:
    """The result with what was found and chosen, also in the run's folder."""
    facts = progress.choice.facts if isinstance(progress, _Keeping) else None
    if facts is None and run is not None and (run.path / PILOT / CHOICE).is_file():
        facts = json.loads((run.path / PILOT / CHOICE).read_text(encoding="utf-8"))
    if facts is None:
        return result
    result = {**result, "auto": facts}
    if run is not None and run.finished and _first():
        run.write_result(result)
    return result


def _first() -> bool:
    """Whether this process, among those that train together, is the one that writes."""
    return os.environ.get("RANK", "0") == "0"


class _Keeping(Progress):
    """Passes everything on, and keeps the look at the labels with the run once the run has a folder."""

    def __init__(self, inner: Progress, run: RunFolder | None, crossed: CrossFit, choice: Choice) -> None:
        self.step, self.epoch, self.say, self.stop = inner.step, inner.epoch, inner.say, inner.stop  # type: ignore[method-assign]
        self.inner, self.run, self.crossed, self.choice = inner, run, crossed, choice

    def start(self, *, epochs: int, epoch: int, batches: int, samples: int) -> None:
        if self.run is not None and self.run.started and not (self.run.path / PILOT / CHOICE).is_file():
            self.crossed.save(self.run.path / PILOT)
            write_json(self.run.path / PILOT / CHOICE, self.choice.facts)
        self.inner.start(epochs=epochs, epoch=epoch, batches=batches, samples=samples)

"""Finding wrong labels: our audit beside cleanlab with 5-fold out-of-sample probabilities of the same network.

Average precision of the ranking over all samples, and within the classes of many, medium and few samples (by the sizes
that the audit estimates). cleanlab ranks by ``self_confidence``, its default; its networks are trained by cross entropy
with the recipe of the data set, for as many epochs as one run would be. Ours are two models on a half each, for about a
third of those epochs. Both times include everything: training, prediction and ranking.

MNIST is a random part of 6,000 images, so that the five folds of one row take minutes; it needs ``--data-root``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold

from anchored._errors import InputError
from anchored._random import stream
from anchored.audit import audit, cross_fit
from anchored.bench._measure import Result
from anchored.data import Dataset, Split, corrupt, load_digits, load_mnist
from anchored.runs import complete, fit

__all__ = ["run"]

_CORRUPTIONS = (
    ("symmetric=0.2",),
    ("symmetric=0.4",),
    ("symmetric=0.6",),
    ("asymmetric=0.3",),
    ("longtail=50", "symmetric=0.4"),
)
_MNIST_SAMPLES, _MNIST_EPOCHS = 6_000, 12
_FOLDS = 5


def run(
    *,
    data_root: str | Path | None = None,
    seeds: Sequence[int] = (0,),
    corruptions: Sequence[tuple[str, ...]] = _CORRUPTIONS,
    epochs: int | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Result:
    """Measure average precision and seconds of both, row by row.

    Args:
        data_root: Folder of MNIST; None for digits only.
        seeds: Seeds of corruption and training; the rows are means over them.
        corruptions: Corruptions of each row.
        epochs: Passes over the data of one training; by default the recipe's on digits and 12 on the part of MNIST.
        tell: Called with a line about each row before it is measured.

    Returns:
        One row per data set, corruption and group of classes.

    Raises:
        InputError: cleanlab is not installed, or MNIST is not there.
    """
    rows: list[tuple[str | float | None, ...]] = []
    fit(load_digits(), {"method": {"name": "ce"}, "train": {"epochs": 1}})  # what a first run costs is nobody's time
    asked = [(source, corruption) for source in _sources(data_root) for corruption in corruptions]
    for number, ((name, clean, length), corruption) in enumerate(asked, start=1):
        corrupted = ", ".join(corruption)
        tell(f"{name}, {corrupted} ({number} of {len(asked)})")
        each = [_measured(clean, corruption, seed, epochs or length) for seed in seeds]
        rows += _rows(name, corrupted, each)
    whole = [row for row in rows if row[2] == "all"]
    return Result(
        title="Finding flipped labels: average precision and seconds",
        columns=(
            "data",
            "corruption",
            "classes",
            "flipped",
            "ours",
            "cleanlab",
            "ours s",
            "cleanlab s",
            "times faster",
        ),
        rows=tuple(rows),
        note=f"cleanlab has {_FOLDS}-fold probabilities of the same network; seeds: {', '.join(map(str, seeds))}.",
        facts={
            "better_everywhere": all(_number(row[4]) > _number(row[5]) for row in whole),
            "least_times_faster": min(_number(row[8]) for row in whole),
        },
    )


def _sources(data_root: str | Path | None) -> Iterator[tuple[str, Dataset, int | None]]:
    yield "digits", load_digits().train, None
    if data_root is not None:
        mnist = load_mnist(Path(data_root)).train
        part = torch.randperm(len(mnist), generator=stream(0, "bench-audit"))[:_MNIST_SAMPLES]
        yield "mnist", mnist.subset(part.sort().values), _MNIST_EPOCHS


def _measured(clean: Dataset, corruption: tuple[str, ...], seed: int, epochs: int | None) -> dict[str, Any]:
    """Score both rankings by group, and time them."""
    data = corrupt(clean, corruption, seed=seed).dataset
    assert data.clean_labels is not None, "corrupted above"
    flipped = (data.labels != data.clean_labels).numpy()
    settings: dict[str, Any] = {"data": {"source": clean.name}, "train": {"seed": seed}}
    if epochs is not None:
        settings["train"]["epochs"] = epochs
    start = time.perf_counter()
    suspects = audit(None, data, logits=cross_fit(data, complete(settings, data)).logits, duplicates=False).suspects
    ours = time.perf_counter() - start
    place = np.array(suspects.column("index"))
    wrong, group = np.empty(len(data)), np.empty(len(data), dtype=object)
    wrong[place] = -np.array(suspects.column("rank"), dtype=np.float64)
    group[place] = suspects.column("group")
    start = time.perf_counter()
    theirs = _cleanlab(data, settings)
    seconds = time.perf_counter() - start
    found: dict[str, Any] = {"seconds": (ours, seconds), "groups": {}}
    for name, members in {
        "all": np.full(len(data), True),
        **{g: group == g for g in ("many", "medium", "few")},
    }.items():
        if 0 < flipped[members].sum() < members.sum() and (name == "all" or not members.all()):
            found["groups"][name] = (
                int(flipped[members].sum()),
                float(average_precision_score(flipped[members], wrong[members])),
                float(average_precision_score(flipped[members], theirs[members])),
            )
    return found


def _cleanlab(data: Dataset, settings: dict[str, Any]) -> npt.NDArray[np.float64]:
    """Ask cleanlab how probably each label is wrong."""
    try:
        from cleanlab.rank import get_label_quality_scores
    except ImportError:
        raise InputError(
            "this benchmark compares with cleanlab, which is not here; install anchored[cleanlab]"
        ) from None
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=settings["train"]["seed"])
    labels = data.labels.numpy()
    probabilities = np.empty((len(data), data.k))
    for seen, asked in folds.split(np.zeros((len(data), 1)), labels):
        part = {"method": {"name": "ce"}, "data": {**settings["data"], "hold_out": 0.0}, "train": settings["train"]}
        fitted = fit(Split(data.subset(torch.from_numpy(seen))), part)
        logits = fitted.model.raw_logits(data.subset(torch.from_numpy(asked)))
        probabilities[asked] = logits.double().softmax(dim=1).numpy()
    quality: npt.NDArray[np.float64] = get_label_quality_scores(labels, probabilities)
    return 1.0 - quality


def _rows(name: str, corruption: str, each: list[dict[str, Any]]) -> list[tuple[str | float | None, ...]]:
    rows: list[tuple[str | float | None, ...]] = []
    ours, theirs = (float(np.mean([one["seconds"][i] for one in each])) for i in (0, 1))
    for group in ("all", "many", "medium", "few"):
        found = [one["groups"][group] for one in each if group in one["groups"]]
        if not found:
            continue
        flipped, mine, other = (float(np.mean(column)) for column in zip(*found, strict=True))
        times = (ours, theirs, theirs / ours) if group == "all" else (None, None, None)
        rows.append((name, corruption, group, flipped, mine, other, *times))
    return rows


def _number(value: str | float | None) -> float:
    return value if isinstance(value, float) else float("nan")

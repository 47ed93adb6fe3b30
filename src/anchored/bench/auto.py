"""``auto``, told nothing about the labels, beside plain cross entropy, on the small sets that come with scikit-learn.

Digits as images and breast cancer as a table, clean and corrupted, and nobody keeps the clean labels. Accuracy and
calibration error are on clean test data, in percent. Beside them stands what a user who has no clean data would see:
how many held-out labels the model agrees with, and its estimated accuracy. For MNIST, beside the published numbers,
there is ``anchored paper run auto_mnist``.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from sklearn.datasets import load_breast_cancer

from anchored.bench._measure import Result
from anchored.data import Dataset, Split, TensorInputs, corrupt, load_digits
from anchored.runs import fit

__all__ = ["run"]


def _table() -> Split:
    """Load breast cancer, 569 rows of 30 numbers; every fifth row of each class is for testing."""
    values, target = load_breast_cancer(return_X_y=True)
    labels = torch.as_tensor(target, dtype=torch.long)
    inputs = TensorInputs(torch.as_tensor(values, dtype=torch.float32))
    whole = Dataset("breast-cancer", inputs, labels, ("malignant", "benign"))
    testing = torch.zeros(len(labels), dtype=torch.bool)
    testing[labels.argsort(stable=True)[::5]] = True
    return Split(train=whole.subset((~testing).nonzero()[:, 0]), test=whole.subset(testing.nonzero()[:, 0]))


SETS: Mapping[str, tuple[Callable[[], Split], tuple[str, ...]]] = {
    "digits": (load_digits, ("", "symmetric=0.2", "symmetric=0.4", "symmetric=0.6", "asymmetric=0.3")),
    "breast cancer": (_table, ("", "symmetric=0.2")),
}
"""Name to the function that loads it and the corruptions tried; ``""`` is clean."""


_COLUMNS = (
    "auto",
    "auto, estimated",
    "held-out labels",
    "cross entropy",
    "ECE of auto",
    "ECE of cross entropy",
    "noise drawn",
    "noise estimated",
)
"""Measures of each row."""


def run(
    *, seeds: Sequence[int] = (0,), epochs: int | None = None, tell: Callable[[str], None] = lambda line: None
) -> Result:
    """Measure accuracy and the estimated noise rate, set by set and corruption by corruption.

    Args:
        seeds: Seeds of corruption and training; the rows are means over them.
        epochs: Passes over the data of one training; by default the recipe's.
        tell: Called with a line about each row before it is measured.

    Returns:
        One row per data set and corruption, in percent.
    """
    rows: list[tuple[str | float | None, ...]] = []
    asked = [(name, load, corruption) for name, (load, corruptions) in SETS.items() for corruption in corruptions]
    for number, (name, load, corruption) in enumerate(asked, start=1):
        data = f"{name}, {corruption or 'clean'}"
        tell(f"{data} ({number} of {len(asked)})")
        split = load()
        found = [_measured(split, corruption, seed, epochs) for seed in seeds]
        mean = {column: statistics.mean(each[column] for each in found) for column in _COLUMNS}
        worst = min(each["auto"] - each["cross entropy"] for each in found)
        rows.append((data, *mean.values(), mean["auto"] - mean["cross entropy"], worst))
    return Result(
        title="auto beside cross entropy: test accuracy, %",
        columns=("data", *_COLUMNS, "gain", "worst seed"),
        rows=tuple(rows),
        note=f"auto is told nothing about the labels; means over seeds {', '.join(map(str, seeds))}.",
    )


def _measured(split: Split, corruption: str, seed: int, epochs: int | None) -> dict[str, float]:
    train = split.train
    if corruption:
        noisy = corrupt(train, corruption, seed=seed).dataset
        train = train.with_labels(noisy.labels)
    settings: dict[str, Any] = {
        "data": {"source": train.name},
        "train": {"seed": seed, "evaluate": False} | ({} if epochs is None else {"epochs": epochs}),
    }
    given = Split(train, split.test)
    ours = fit(given, settings).result
    plain = fit(given, {**settings, "method": {"name": "ce"}}).result
    values = (
        ours["test"]["accuracy"],
        ours["estimated"]["accuracy"],
        ours["held_out"]["accuracy"],
        plain["test"]["accuracy"],
        ours["test"]["ece"],
        plain["test"]["ece"],
        float((train.labels != split.train.labels).double().mean()),
        ours["auto"]["noise_rate"],
    )
    return {column: 100 * value for column, value in zip(_COLUMNS, values, strict=True)}

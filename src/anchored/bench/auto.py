"""``auto``, told nothing about the labels, beside cross entropy and the best published number, which was told the rate.

MNIST with the published corruptions, or digits where MNIST is not at hand. Accuracy is that of the last epoch on clean
test images, in percent. The published numbers are the best of each column of the paper's table for MNIST.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from anchored import auto
from anchored.bench._measure import Result
from anchored.data import Split, load_digits, load_mnist
from anchored.training import fit

__all__ = ["run"]

PUBLISHED: dict[str, float] = {
    "": 99.42,
    "symmetric=0.2": 99.24,
    "symmetric=0.4": 98.76,
    "symmetric=0.6": 97.94,
    "symmetric=0.8": 94.65,
    "asymmetric=0.2": 99.08,
    "asymmetric=0.3": 98.82,
    "asymmetric=0.4": 97.27,
}
"""Corruption to the best accuracy in print."""


def run(
    *,
    data_root: str | Path | None = None,
    seeds: Sequence[int] = (0,),
    corruptions: Sequence[str] = tuple(PUBLISHED),
    epochs: int | None = None,
    baseline: bool = True,
) -> Result:
    """Accuracy and the estimated noise rate, corruption by corruption.

    Args:
        data_root: Where MNIST lies; without it, digits.
        seeds: Of corruption and training; the rows are means over them.
        corruptions: The rows; ``""`` is clean data.
        epochs: Of one training; by default the recipe's.
        baseline: Whether cross entropy is trained as well.
    """
    split = load_digits() if data_root is None else load_mnist(Path(data_root))
    rows: list[tuple[str | float | None, ...]] = []
    for corruption in corruptions:
        found = [_measured(split, corruption, seed, epochs, baseline) for seed in seeds]
        columns = list(zip(*found, strict=True))
        published = PUBLISHED.get(corruption) if data_root is not None else None
        spread = statistics.stdev(columns[0]) if len(seeds) > 1 else None
        plain = statistics.mean(columns[1]) if baseline else None
        drawn, estimated = statistics.mean(columns[2]), statistics.mean(columns[3])
        rows.append((corruption or "clean", statistics.mean(columns[0]), spread, plain, published, drawn, estimated))
    return Result(
        title=f"auto on {split.train.name}: test accuracy, %",
        columns=("corruption", "auto", "± seeds", "cross entropy", "best published", "noise drawn", "noise estimated"),
        rows=tuple(rows),
        note=f"auto is told nothing, the published methods were told the rate; seeds: {', '.join(map(str, seeds))}.",
    )


def _measured(
    split: Split, corruption: str, seed: int, epochs: int | None, baseline: bool
) -> tuple[float, float, float, float]:
    settings: dict[str, Any] = {
        "data": {"source": split.train.name, "corrupt": [corruption] if corruption else []},
        "train": {"seed": seed, "evaluate": False} | ({} if epochs is None else {"epochs": epochs}),
    }
    result = auto.fit(split, settings).result
    plain = fit(split, {**settings, "method": {"name": "ce"}}).result["test"]["accuracy"] if baseline else 0.0
    drawn = result["corruption"].get("noise", {}).get("rate", 0.0)
    return 100 * result["test"]["accuracy"], 100 * plain, float(drawn), float(result["auto"]["noise_rate"])

"""The data that a run trains on: as the source gives it, then corrupted, then corrected, as the run was asked to."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anchored._errors import InputError
from anchored.data import Dataset, Split, correct, corrupt, open_source, read_corrections
from anchored.training.config import DataConfig, RunConfig

__all__ = ["Prepared", "open_data", "prepare"]


def open_data(config: DataConfig, *, root: str | Path | None = None) -> Split:
    """The data of a run as its configuration names it, neither corrupted nor corrected yet.

    Args:
        config: The ``data`` part of a configuration.
        root: Where the data lies now, where that is not what the configuration says.

    Example:
        >>> len(open_data(DataConfig(source="digits")).train)
        1437
    """
    return open_source(
        config.source,
        root=config.root if root is None else root,
        label=config.label,
        image=config.image,
        test=config.test,
        side=config.side,
        below_label=config.below_label,
    )


@dataclass(frozen=True, eq=False)
class Prepared:
    """Training data, and how it came about.

    Attributes:
        dataset: What is trained on.
        uncorrected: The same before corrections.
        corruption: What :func:`~anchored.data.corrupt` did; empty where nothing was asked for.
        corrections: What :func:`~anchored.data.correct` did; empty where nothing was asked for.
    """

    dataset: Dataset
    uncorrected: Dataset
    corruption: dict[str, Any] = field(default_factory=dict)
    corrections: dict[str, Any] = field(default_factory=dict)

    def pin(self, config: RunConfig) -> RunConfig:
        """``config`` with the state of the corrections that were used, so that later lines do not change the run."""
        if not self.corrections:
            return config
        return config.change({"data": {"corrections_digest": self.corrections["digest"]}})


def prepare(dataset: Dataset, config: RunConfig) -> Prepared:
    """``dataset`` as the run of ``config`` trains on it.

    Args:
        dataset: The training part of the source.
        config: As it was asked for, or as the run keeps it; then the corrections are read as they were at its start.

    Example:
        >>> from anchored.data import load_digits
        >>> from anchored.training.config import validate
        >>> prepared = prepare(load_digits().train, validate({"data": {"corrupt": ["symmetric=0.4"]}}))
        >>> prepared.corruption["noise"]["flipped"], prepared.corrections
        (570, {})
    """
    corruption: dict[str, Any] = {}
    if config.data.corrupt:
        corrupted = corrupt(dataset, config.data.corrupt, seed=config.train.seed)
        dataset, corruption = corrupted.dataset, corrupted.receipt
    if config.data.corrections is None:
        if config.data.corrections_digest is not None:
            raise InputError("data.corrections_digest says in which state data.corrections is read; give both or none")
        return Prepared(dataset, dataset, corruption)
    lines = read_corrections(config.data.corrections, digest=config.data.corrections_digest)
    corrected = correct(dataset, lines)
    return Prepared(corrected.dataset, dataset, corruption, corrected.receipt)

"""What every encoder of one column is: settings that are plain data, and a map from a column to features.

All features have mean 0 over the training rows, so that a feature times a weight says how far a row's cell moves a
score away from that of the average row. A missing cell gives 0, and 2 in a feature of its own if training had missing
cells.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Self

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor

from anchored._errors import InputError
from anchored.data import MISSING_WORDS, Column, NumberColumn, TextColumn, TimeColumn

__all__ = [
    "YES",
    "ColumnEncoder",
    "Features",
    "Where",
    "as_texts",
    "levels_to_rows",
    "refuse_unreadable",
    "shown",
    "with_indicator",
    "without_missing_words",
]

Features = npt.NDArray[np.float32]
YES = np.float32(2.0)
"""The step from no to yes: as long as two standard deviations of a number (Gelman, 2008)."""
Where = Callable[[int], str]
"""Names the file, row and column of the cell in row i of the column at hand, for messages."""


class ColumnEncoder(BaseModel, ABC):
    """The encoding of one column.

    Args:
        missing_mean: Share of training cells that were missing, the mean of the indicator; 0 if there is none.
        lenient: Whether cells that cannot be read count as missing, because training had some and said so.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    missing_mean: float = Field(default=0.0, ge=0.0, le=1.0)
    lenient: bool = False

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """What each feature is, in their order, without the column's name."""

    @property
    @abstractmethod
    def action(self) -> str:
        """What is done with the column, in a few words."""

    @property
    def dim(self) -> int:
        """Number of features."""
        return len(self.names)

    @abstractmethod
    def transform(self, column: Column, where: Where) -> Features:
        """Encode a column.

        Args:
            column: The cells, in any form that can be read as this kind.
            where: Names the place of a cell, for the refusal of one that cannot be read.

        Returns:
            Features ``(n, dim)``, float32, finite.
        """

    def tensors(self) -> dict[str, Tensor]:
        """Return what is too large for JSON; nothing unless a kind says otherwise."""
        return {}

    @classmethod
    def restore(cls, about: Mapping[str, object], tensors: Mapping[str, Tensor]) -> Self:
        """Make the encoder from its settings and tensors, checking both.

        Args:
            about: What ``model_dump`` gave.
            tensors: What :meth:`tensors` gave.

        Returns:
            The encoder.
        """
        return cls.model_validate(about)


def with_indicator(features: Features, missing: npt.NDArray[np.bool_], mean: float) -> Features:
    """Add the feature that says which cells are missing, if training had any.

    Args:
        features: The other features ``(n, d)``.
        missing: Which cells are missing ``(n,)``.
        mean: Share of missing cells in training; with 0 nothing is added.

    Returns:
        Features ``(n, d)`` or ``(n, d + 1)``.

    Example:
        >>> with_indicator(np.zeros((2, 1), dtype=np.float32), np.array([True, False]), 0.5).tolist()
        [[0.0, 1.0], [0.0, -1.0]]
    """
    if mean == 0.0:
        return features
    indicator = (YES * (missing.astype(np.float32) - np.float32(mean)))[:, None]
    return np.concatenate([features, indicator], axis=1)


def without_missing_words(column: TextColumn) -> TextColumn:
    """Turn cells such as ``NA`` and ``null`` into missing ones, and keep only the levels that occur.

    Example:
        >>> without_missing_words(TextColumn(np.array([0, 1], dtype=np.int32), ("NA", "red"))).cells()
        [None, 'red']
    """
    gone = [place for place, level in enumerate(column.levels) if level in MISSING_WORDS]
    if gone:
        codes = column.codes.copy()
        codes[np.isin(codes, gone)] = -1
        column = TextColumn(codes, column.levels)
    return column.used()


def as_texts(column: Column) -> TextColumn:
    """Take the cells of any column as texts, each distinct one once.

    Example:
        >>> as_texts(NumberColumn(np.array([3.0, 1.5, 3.0, np.nan]))).cells()
        ['3', '1.5', '3', None]
    """
    if isinstance(column, TextColumn):
        return without_missing_words(column)
    if isinstance(column, NumberColumn | TimeColumn):
        first, inverse = np.unique(column.values, return_index=True, return_inverse=True)[1:]
        codes = inverse.astype(np.int32)
        codes[column.missing] = -1
        return TextColumn(codes, tuple(text or "" for text in column.take(first).cells())).used()
    raise InputError("lists of numbers cannot be read as texts; drop the column")


def refuse_unreadable(
    column: TextColumn, unreadable: npt.NDArray[np.bool_], where: Where, rule: str, way_out: str
) -> None:
    """Refuse the first row whose text cannot be read.

    Args:
        column: The cells.
        unreadable: Which levels cannot be read.
        where: Names the place of a cell.
        rule: What the cell must be.
        way_out: What the user can do.

    Raises:
        InputError: If a row holds an unreadable level.

    Example:
        >>> column = TextColumn(np.array([0], dtype=np.int32), ("x",))
        >>> refuse_unreadable(column, np.array([True]), lambda row: f"row {row}", "must be a number", "correct it")
        Traceback (most recent call last):
        ...
        anchored._errors.InputError: row 0: must be a number, got 'x'; correct it
    """
    bad = np.flatnonzero(np.append(unreadable, False)[column.codes])
    if len(bad):
        row = int(bad[0])
        more = f" ({len(bad)} such cells in all)" if len(bad) > 1 else ""
        raise InputError(f"{where(row)}: {rule}, got {shown(column.levels[column.codes[row]])}{more}; {way_out}")


def shown(text: str) -> str:
    """Return a text as messages quote it, cut if it is long."""
    return repr(text if len(text) <= 40 else text[:39] + "…")


def levels_to_rows(table: Features, codes: Sequence[int] | npt.NDArray[np.int32]) -> Features:
    """Give each row the features of its level; a missing cell (-1) gets zeros.

    Args:
        table: Features per level ``(m, d)``.
        codes: Level of each row ``(n,)``.

    Returns:
        Features ``(n, d)``.

    Example:
        >>> levels_to_rows(np.array([[5.0]], dtype=np.float32), [0, -1]).tolist()
        [[5.0], [0.0]]
    """
    padded = np.concatenate([table, np.zeros((1, table.shape[1]), dtype=np.float32)])
    rows: Features = padded[np.asarray(codes)]
    return rows

"""Truth values: one feature, 2 for yes and 0 for no, minus its mean in training."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from anchored.data import Column
from anchored.features.columns._base import (
    YES,
    ColumnEncoder,
    Features,
    Where,
    as_texts,
    refuse_unreadable,
    with_indicator,
)

__all__ = ["FALSE_WORDS", "TRUE_WORDS", "BooleanEncoder", "is_boolean"]

_PAIRS = (
    ("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("on", "off"), ("1", "0"), ("ja", "nein"), ("oui", "non"),
    ("sí", "no"), ("si", "no"), ("sim", "não"), ("예", "아니오"),
)  # fmt: skip
TRUE_WORDS = frozenset(yes for yes, _ in _PAIRS)
"""Words for yes, in small letters."""
FALSE_WORDS = frozenset(no for _, no in _PAIRS)
"""Words for no, in small letters."""


def is_boolean(levels: tuple[str, ...]) -> bool:
    """Whether the distinct texts of a column are a pair of words for yes and no.

    Example:
        >>> is_boolean(("Yes", "no")), is_boolean(("yes", "maybe")), is_boolean(("1", "0"))
        (True, False, True)
    """
    words = {level.lower() for level in levels}
    return len(words) == 2 and any(words == set(pair) for pair in _PAIRS)


class BooleanEncoder(ColumnEncoder):
    """Encode a column of truth values.

    Args:
        mean: Share of yes among the training cells that are not missing.

    Example:
        >>> from anchored.data import column_of
        >>> encoder = BooleanEncoder.fit(column_of([True, False, True, True], "t"))
        >>> encoder.transform(column_of(["yes", "NO"], "t"), where=str).tolist()
        [[0.5], [-1.5]]
    """

    kind: Literal["boolean"] = "boolean"
    mean: float = Field(ge=0.0, le=1.0)

    @classmethod
    def fit(cls, column: Column) -> BooleanEncoder:
        """Learn the share of yes and of missing cells from training cells."""
        texts = as_texts(column)
        values, _ = _read(texts.levels)
        rows = np.append(values, np.nan)[texts.codes]
        missing = np.isnan(rows)
        return cls(mean=float(rows[~missing].mean()) if not missing.all() else 0.0, missing_mean=float(missing.mean()))

    @property
    def names(self) -> tuple[str, ...]:
        """What each feature is."""
        return ("yes", "missing") if self.missing_mean else ("yes",)

    @property
    def action(self) -> str:
        """What is done with the column."""
        return "yes or no; gaps marked" if self.missing_mean else "yes or no"

    def transform(self, column: Column, where: Where) -> Features:
        """Encode truth values.

        Args:
            column: Words for yes and no in any case, or 1 and 0.
            where: Names the place of a cell.

        Returns:
            Features ``(n, dim)``.

        Raises:
            InputError: If a cell is neither yes nor no; the line names its row and column.
        """
        texts = as_texts(column)
        values, unreadable = _read(texts.levels)
        refuse_unreadable(texts, unreadable, where, "a cell must be yes or no, as in training", "correct the cell")
        rows = np.append(values, np.nan)[texts.codes]
        missing = np.isnan(rows)
        features = np.where(missing, 0.0, YES * (rows - self.mean)).astype(np.float32)[:, None]
        return with_indicator(features, missing, self.missing_mean)


def _read(levels: tuple[str, ...]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    words = [level.lower() for level in levels]
    values = [1.0 if word in TRUE_WORDS else 0.0 if word in FALSE_WORDS else np.nan for word in words]
    array = np.array(values, dtype=np.float64)
    return array, np.isnan(array)

"""Columns that name the rows: ids, and counts of the rows. They say nothing about a row that is not in the table."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from anchored.data.columns import Column, NumberColumn, TextColumn

__all__ = ["is_id_name", "why_id"]

_ROWS = 20
_SHARE = 0.95
_CODES = 0.8
_NAME = re.compile(
    r"(?:^|[_\s\-.])(?:ids?|uuid|guid|pk|index|idx|row|rownum|rownames)$|[a-z](?:Id|ID)$|^Unnamed: \d+$", re.ASCII
)
_CODE = re.compile(r"[A-Za-z0-9_\-./:@#+]*[0-9@][A-Za-z0-9_\-./:@#+]*")


def is_id_name(name: str) -> bool:
    """Tell whether a column is called like an id.

    Example:
        >>> is_id_name("customer_id"), is_id_name("paid")
        (True, False)
    """
    return _NAME.search(name) is not None


def why_id(name: str, column: Column) -> str | None:
    """Say why a column is an id, or None if it is none.

    Args:
        name: The column's name; ``customer_id`` and the like make an id likelier.
        column: Its cells.

    Returns:
        The reason in a few words.

    Example:
        >>> why_id("n", NumberColumn(np.arange(30.0))), why_id("age", NumberColumn(np.arange(30.0) % 7))
        ('it counts the rows', None)
    """
    present = len(column) - int(column.missing.sum())
    if present < _ROWS:
        return None
    if isinstance(column, TextColumn):
        levels = column.used().levels
        if len(levels) < _SHARE * present:
            return None
        codes = sum(_CODE.fullmatch(level) is not None for level in levels)
        named = is_id_name(name) and all(" " not in level for level in levels)
        return "another value in every row" if codes >= _CODES * len(levels) or named else None
    if not isinstance(column, NumberColumn):
        return None
    values = column.values[~column.missing]
    distinct = np.unique(values)
    if not bool(np.isfinite(distinct).all()) or bool((distinct != np.floor(distinct)).any()):
        return None
    if len(distinct) < len(values):
        return "by its name an id" if is_id_name(name) and len(distinct) > len(values) / 2 else None
    if _counts_rows(values, distinct):
        return "it counts the rows"
    return "another value in every row" if is_id_name(name) else None


def _counts_rows(values: npt.NDArray[np.float64], distinct: npt.NDArray[np.float64]) -> bool:
    """Whether whole numbers that all differ are a count of the rows, perhaps with some rows taken out since."""
    width = float(distinct[-1] - distinct[0]) + 1
    return width == len(values) or (bool((np.diff(values) > 0).all()) and width <= 4 * len(values))

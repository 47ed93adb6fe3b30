"""Columns of plain numbers as vectors, row by row: each row is all finite numbers, or it is said why it is not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from anchored._errors import InputError
from anchored._names import is_number
from anchored.data.columns import Column, NumberColumn, TableInputs, TextColumn
from anchored.data.csv_columns import MISSING_WORDS
from anchored.data.id_column import why_id

__all__ = ["are_plain_numbers", "check_numeric", "fits_single_precision", "number_rows", "numbers_of"]

Floats = npt.NDArray[np.float64]
_FAR = 1e6
_ENOUGH = 10_000
"""Cells that tell how far a column's values usually lie from their median."""
_RESOLUTION = float(np.finfo(np.float32).eps)
_LOST = 1e-3


def numbers_of(column: Column) -> Floats | None:
    """Return the cells of a column as numbers, NaN for a missing one; None if it holds something else.

    Example:
        >>> numbers_of(TextColumn(np.array([0, 1], dtype=np.int32), ("true", "false"))).tolist()
        [1.0, 0.0]
    """
    if isinstance(column, NumberColumn):
        return column.values
    if isinstance(column, TextColumn) and column.levels == ("true", "false"):  # the truth values of Parquet and frames
        return np.array([1.0, 0.0, np.nan])[column.codes]
    return None


def are_plain_numbers(table: TableInputs, *, careful: bool = True) -> bool:
    """Tell whether a table is a matrix of numbers that can be taken as it is.

    Args:
        table: The table, without its label.
        careful: Whether a table is refused that has an id among its columns, a value more than a million times as far
            from the median as others are, or an offset so large that single precision loses the differences. Such a
            table is better encoded column by column, which centres in double precision and clips.

    Returns:
        Whether every cell is a finite number, and nothing speaks against it.

    Example:
        >>> good, far = np.arange(9.0) % 4, np.array([1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 1e30])
        >>> [are_plain_numbers(TableInputs({"x": NumberColumn(x)})) for x in (good, far, good + 1e8)]
        [True, False, False]
    """
    for name, column in table.columns.items():
        values = numbers_of(column)
        if values is None or bool(column.missing.any()):
            return False
        with np.errstate(over="ignore"):
            if not bool(np.isfinite(values.astype(np.float32)).all()):
                return False
        if careful and (why_id(name, column) is not None or not fits_single_precision(values)):
            return False
    return True


def fits_single_precision(values: Floats) -> bool:
    """Tell whether a column of finite numbers keeps its differences in single precision, and none lies far away.

    Args:
        values: The column ``(n,)``.

    Returns:
        Whether the farthest value is at most a million times as far from the median as others usually are, and rounding
        the largest value moves it by at most a thousandth of that.

    Example:
        >>> cells = np.arange(9.0)
        >>> fits_single_precision(cells), fits_single_precision(cells + 1e8)
        (True, False)
    """
    some = values[:: max(1, len(values) // _ENOUGH)]
    centre = np.median(some)
    away = np.abs(some - centre)
    if not away.any():
        away = np.abs(values - centre)
    others = away[away > 0]
    if not len(others):
        return True
    usual = float(np.median(others))
    low, high = float(values.min()), float(values.max())
    farthest, largest = max(high - centre, centre - low), max(high, -low)
    return bool(farthest <= _FAR * usual and largest * _RESOLUTION <= _LOST * usual)


def number_rows(table: TableInputs, names: Sequence[str]) -> tuple[Tensor, dict[int, str]]:
    """Take the rows of a table as vectors.

    Args:
        table: The table.
        names: The columns that count, in this order.

    Returns:
        The rows that are all finite numbers, ``(m, d)`` float32, and by place in the table what is wrong with others.

    Example:
        >>> from anchored.data.column_values import column_of
        >>> rows, errors = number_rows(TableInputs({"x": column_of([1, "two", None], "x")}, source="t"), ["x"])
        >>> rows.tolist(), errors[2]
        ([[1.0]], "t, row 2, column 'x': the cell is empty; fill it or drop the row")
    """
    values = np.empty((len(table), len(names)))
    errors: dict[int, str] = {}
    for place, name in enumerate(names):
        column = table.columns[name]
        found = _read(column)
        values[:, place] = found
        with np.errstate(over="ignore"):
            bad = np.flatnonzero(~np.isfinite(found.astype(np.float32)))
        for row in bad.tolist():
            if row not in errors:
                errors[row] = f"{table.where(row, name)}: {_why(column, float(found[row]), row)}"
    kept = np.delete(values, list(errors), axis=0) if errors else values
    return torch.from_numpy(kept.astype(np.float32)), errors


def _why(column: Column, value: float, row: int) -> str:
    """Say what is wrong with a cell that gave no finite number."""
    text = column.take(np.array([row])).cells()[0]
    if text is None or text in MISSING_WORDS:
        return "the cell is empty; fill it or drop the row"
    if is_number(text):
        return f"features must be finite in single precision, got {value}; fill or drop them"
    comma = is_number(text.replace(",", "."))
    way_out = "write decimals with a point" if comma else "encode text as numbers, or drop the column"
    return f"features must be numbers, got {text!r}; {way_out}"


def _read(column: Column) -> Floats:
    numbers = numbers_of(column)
    if numbers is not None:
        return numbers
    if not isinstance(column, TextColumn):
        return np.full(len(column), np.nan)
    levels = np.array([*(float(level) if is_number(level) else np.nan for level in column.levels), np.nan])
    return levels[column.codes]


def check_numeric(table: TableInputs, names: Sequence[str]) -> None:
    """Refuse columns that hold no number at all: they would be an error in every row.

    Args:
        table: The table, or its first rows.
        names: The columns that must be numbers.

    Raises:
        InputError: If there is such a column; the line names it.

    Example:
        >>> check_numeric(TableInputs({"x": NumberColumn(np.zeros(2))}), ["x"])
    """
    for name in names:
        column = table.columns[name]
        if len(column) and not column.missing.all() and bool(np.isnan(_read(column)).all()):
            shown = column.take(np.flatnonzero(~column.missing)[:1]).cells()[0]
            raise InputError(
                f"{table.source}, column {name!r}: features must be numbers, got {shown!r}; encode it, or drop it"
            )

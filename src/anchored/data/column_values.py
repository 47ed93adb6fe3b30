"""Columns from Python values, as JSON, Excel and object arrays have them, and from parts of columns."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from anchored._errors import InputError
from anchored.data.columns import Column, NumberColumn, TextColumn, TimeColumn, VectorColumn, text_of_number

__all__ = ["column_of", "joined", "text_column"]


def column_of(values: Sequence[object], where: str) -> Column:
    """Make a column from Python values, as JSON, Excel and object arrays have them.

    Args:
        values: One value per row: numbers, texts, truth values, dates or times, lists of numbers; None if missing.
        where: What a message calls the column.

    Returns:
        Numbers if all values are numbers, times if all are dates, vectors if all are lists of one length, otherwise
        texts (truth values as ``"true"`` and ``"false"``).

    Raises:
        InputError: If lists differ in length or hold something else than numbers.

    Example:
        >>> column_of([1, None, 2.5], "t").cells()
        ['1', None, '2.5']
        >>> column_of([1, "two"], "t").cells()
        ['1', 'two']
    """
    kinds = set(map(type, values)) - {type(None)}
    if kinds and all(issubclass(kind, bool | np.bool_) for kind in kinds):
        table = {True: 0, False: 1, None: -1}
        return TextColumn(np.array([table[value] for value in values], dtype=np.int32), ("true", "false"))  # type: ignore[index]
    if all(issubclass(kind, _NUMBERS) and not issubclass(kind, bool | np.bool_) for kind in kinds):
        try:
            return NumberColumn(np.array([math.nan if value is None else value for value in values], dtype=np.float64))
        except OverflowError:  # a whole number beyond 1e308: as text, so that it is named with its row
            pass
    elif all(issubclass(kind, date) or _is_nat(kind) for kind in kinds):
        return TimeColumn(np.array([_utc(value) for value in values], dtype="datetime64[us]"))
    elif all(issubclass(kind, list | tuple | np.ndarray) for kind in kinds):
        return _vectors(values, where)
    return text_column(values)


_NUMBERS = (int, float, np.integer, np.floating, Decimal)


def _is_nat(kind: type) -> bool:
    return kind.__name__ == "NaTType"


def _utc(value: object) -> object:
    """Return a date or time without zone, moved to UTC if it had one."""
    if value is None or value != value:
        return None
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value


def text_column(values: Iterable[object]) -> TextColumn:
    """Make a column of texts from any values; None, NaN and blank texts are missing cells.

    Example:
        >>> text_column(["a", None, 2.0, " ", "a"]).codes.tolist()
        [0, -1, 1, -1, 0]
    """
    place: dict[str, int] = {}
    codes = []
    for value in values:
        text = "" if value is None or value != value else _text_of(value)
        codes.append(place.setdefault(text, len(place)) if text else -1)
    return TextColumn(np.array(codes, dtype=np.int32), tuple(place))


def _text_of(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        return text_of_number(float(value))
    if isinstance(value, timedelta):
        return text_of_number(value.total_seconds())
    if isinstance(value, datetime | date | time):
        return value.isoformat(sep=" ") if isinstance(value, datetime) else value.isoformat()
    return str(value).strip()


def _vectors(values: Sequence[Any], where: str) -> VectorColumn:
    lengths = Counter(len(value) for value in values if value is not None)
    if len(lengths) != 1:
        usual = lengths.most_common(1)[0][0]
        odd = next(i for i, value in enumerate(values) if value is not None and len(value) != usual)
        raise InputError(
            f"{where}: lists must have one length, got {usual} numbers in most cells and {len(values[odd])} in row "
            f"{odd} of the data; correct it, or drop the column"
        )
    width = next(iter(lengths))
    gap = np.full(width, np.nan)
    try:
        array = np.array([gap if value is None else value for value in values], dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{where}: a list column must hold numbers only; flatten it, or drop the column") from None
    if array.shape != (len(values), width):
        raise InputError(f"{where}: a list column must hold flat lists of numbers; flatten it, or drop the column")
    return VectorColumn(array)


def joined(parts: Sequence[Column], where: str) -> Column:
    """Put the parts of one column after each other.

    Args:
        parts: Columns in the order of their rows. Where their forms differ, all become texts.
        where: What a message calls the column.

    Returns:
        One column with the cells of all.

    Raises:
        InputError: If vectors differ in length.

    Example:
        >>> joined([column_of([1, 2], "t"), column_of(["x"], "t")], "t").cells()
        ['1', '2', 'x']
    """
    full = [part for part in parts if not part.missing.all()] or list(parts[:1])
    first = full[0]
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, type(first)) for part in full):
        if isinstance(first, VectorColumn):
            widths = {part.values.shape[1] for part in full if isinstance(part, VectorColumn)}
            if len(widths) > 1:
                low, high = min(widths), max(widths)
                raise InputError(f"{where}: lists must have one length, got {low} and {high} numbers; correct them")
            gaps = (_gaps(part, first) for part in parts)
            return VectorColumn(np.concatenate([part.values for part in gaps if isinstance(part, VectorColumn)]))
        if isinstance(first, NumberColumn | TimeColumn):
            values = [_gaps(part, first).values for part in parts]  # type: ignore[union-attr]
            return type(first)(np.concatenate(values))
    return _joined_texts(parts)


def _gaps(part: Column, like: Column) -> Column:
    """Return ``part``, or as many missing cells of the form of ``like`` where it holds nothing else."""
    if isinstance(part, type(like)):
        return part
    if isinstance(like, VectorColumn):
        return VectorColumn(np.full((len(part), like.values.shape[1]), np.nan))
    if isinstance(like, TimeColumn):
        return TimeColumn(np.full(len(part), "NaT", dtype="datetime64[us]"))
    return NumberColumn(np.full(len(part), np.nan))


def _joined_texts(parts: Sequence[Column]) -> TextColumn:
    place: dict[str, int] = {}
    codes = []
    for part in parts:
        texts = part if isinstance(part, TextColumn) else text_column(part.cells())
        moved = [place.setdefault(level, len(place)) for level in texts.levels]
        codes.append(np.array([*moved, -1], dtype=np.int32)[texts.codes])
    return TextColumn(np.concatenate(codes), tuple(place))

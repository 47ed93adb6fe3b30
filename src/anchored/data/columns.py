"""Named columns with raw values: what a table is before it is encoded.

A column keeps what its source said: numbers (float64), texts (each distinct text once, and a code per row), times, or
vectors (a list of numbers per cell). Repeated texts cost four bytes a row, so a table of a million rows stays near the
size of its file. What a column *means* (a category, a date written as text, an id) is decided by
:mod:`anchored.features`, from the training rows only.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
from torch import Tensor

from anchored._errors import InputError
from anchored._names import suggest

__all__ = [
    "MAX_COLUMNS",
    "Column",
    "NumberColumn",
    "TableChunk",
    "TableInputs",
    "TextColumn",
    "TimeColumn",
    "VectorColumn",
    "check_names",
    "text_columns",
    "text_of_number",
]

MAX_COLUMNS = 2**16
"""The most columns of a table. Wider data is one list column of numbers, or an array."""

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]
Index = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def text_of_number(value: float) -> str:
    """Write a number as people write it: whole numbers without a point.

    Example:
        >>> text_of_number(3.0), text_of_number(0.1), text_of_number(1e30)
        ('3', '0.1', '1e+30')
    """
    return str(int(value)) if math.isfinite(value) and value == int(value) and abs(value) < 1e16 else repr(float(value))


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """A column of numbers.

    Args:
        values: ``(n,)`` float64; NaN is a missing cell.

    Example:
        >>> column = NumberColumn(np.array([1.5, np.nan, 3.0]))
        >>> column.cells(), column.missing.tolist()
        (['1.5', None, '3'], [False, True, False])
    """

    values: Floats

    def __len__(self) -> int:
        return len(self.values)

    @property
    def missing(self) -> Flags:
        """Which cells are missing, ``(n,)``."""
        return np.isnan(self.values)

    def take(self, index: Index) -> NumberColumn:
        """Return the cells at ``index``, in that order."""
        return NumberColumn(self.values[index])

    def cells(self) -> list[str | None]:
        """Return every cell as text, None if it is missing."""
        return [None if value != value else text_of_number(value) for value in self.values.tolist()]


@dataclass(frozen=True, eq=False)
class TextColumn:
    """A column of texts, each distinct one kept once.

    Args:
        codes: ``(n,)`` int32, the place of each cell's text in ``levels``; -1 is a missing cell.
        levels: The distinct texts, without blanks around them. Some may be used by no row, after :meth:`take`.

    Example:
        >>> column = TextColumn(np.array([0, 1, -1, 0], dtype=np.int32), ("red", "blue"))
        >>> column.cells()
        ['red', 'blue', None, 'red']
        >>> column.take(np.array([1])).used().levels
        ('blue',)
    """

    codes: Codes
    levels: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def missing(self) -> Flags:
        """Which cells are missing, ``(n,)``."""
        return self.codes < 0

    def take(self, index: Index) -> TextColumn:
        """Return the cells at ``index``, in that order; the levels are shared."""
        return TextColumn(self.codes[index], self.levels)

    def counts(self) -> npt.NDArray[np.int64]:
        """Count the rows of each level, ``(len(levels),)``."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.levels))

    def used(self) -> TextColumn:
        """Return the same cells with only the levels that occur, in their order."""
        kept = np.flatnonzero(self.counts())
        if len(kept) == len(self.levels):
            return self
        place = np.full(len(self.levels) + 1, -1, dtype=np.int32)  # the last entry is that of code -1
        place[kept] = np.arange(len(kept), dtype=np.int32)
        return TextColumn(place[self.codes], tuple(self.levels[i] for i in kept.tolist()))

    def cells(self) -> list[str | None]:
        """Return every cell as text, None if it is missing."""
        texts: list[str | None] = [*self.levels, None]
        return [texts[code] for code in self.codes.tolist()]


@dataclass(frozen=True, eq=False)
class TimeColumn:
    """A column of points in time, in UTC if the source names a time zone.

    Args:
        values: ``(n,)`` datetime64 in microseconds; NaT is a missing cell.

    Example:
        >>> TimeColumn(np.array(["2024-02-29", "NaT"], dtype="datetime64[us]")).cells()
        ['2024-02-29 00:00:00', None]
    """

    values: npt.NDArray[np.datetime64]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def missing(self) -> Flags:
        """Which cells are missing, ``(n,)``."""
        return np.isnat(self.values)

    def take(self, index: Index) -> TimeColumn:
        """Return the cells at ``index``, in that order."""
        return TimeColumn(self.values[index])

    def cells(self) -> list[str | None]:
        """Return every cell as text, None if it is missing."""
        texts = np.datetime_as_string(self.values, unit="s").tolist()
        return [None if text == "NaT" else str(text).replace("T", " ") for text in texts]


@dataclass(frozen=True, eq=False)
class VectorColumn:
    """A column whose cells are lists of numbers, all of one length: embeddings.

    Args:
        values: ``(n, d)``, a float type; a row of NaN is a missing cell.

    Example:
        >>> VectorColumn(np.array([[1.0, 2.0], [np.nan, np.nan]])).cells()
        ['[1, 2]', None]
    """

    values: npt.NDArray[np.floating[Any]]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def missing(self) -> Flags:
        """Which cells are missing, ``(n,)``."""
        flags: Flags = np.isnan(self.values).any(axis=1)
        return flags

    def take(self, index: Index) -> VectorColumn:
        """Return the cells at ``index``, in that order."""
        return VectorColumn(self.values[index])

    def cells(self) -> list[str | None]:
        """Return every cell as text, None if it is missing; of a long list only the beginning."""
        return [None if gone else _short_vector(row) for row, gone in zip(self.values, self.missing, strict=True)]


Column = NumberColumn | TextColumn | TimeColumn | VectorColumn
"""A column of any of the four forms."""


def _short_vector(row: npt.NDArray[np.floating[Any]]) -> str:
    shown = ", ".join(text_of_number(round(float(value), 4)) for value in row[:4])
    return f"[{shown}, … {len(row)} numbers]" if len(row) > 4 else f"[{shown}]"


class TableInputs:
    """The rows of a table before they are encoded.

    Args:
        columns: The columns by name, all of one length.
        rows: What the source calls each row, ``(n,)``; by default 0, 1, …. A CSV file's first row of data is row 2.
        source: What a message calls the table: the file's path, or ``"the data frame"``.
        notes: What a careful reader would want to know about the reading, one line each.

    Raises:
        InputError: If the columns differ in length.

    Example:
        >>> import torch
        >>> table = TableInputs({"age": NumberColumn(np.array([31.0, 45.0]))}, rows=np.array([2, 3]), source="t.csv")
        >>> len(table), table.shape, table.names, table.where(1, "age")
        (2, (), ('age',), "t.csv, row 3, column 'age'")
        >>> table.subset(torch.tensor([1])).columns["age"].cells()
        ['45']
    """

    def __init__(
        self,
        columns: Mapping[str, Column],
        *,
        rows: Index | None = None,
        source: str = "the table",
        notes: Sequence[str] = (),
    ) -> None:
        lengths = {name: len(column) for name, column in columns.items()}
        n = len(rows) if rows is not None else next(iter(lengths.values()), 0)
        for name, length in lengths.items():
            if length != n:
                raise InputError(f"{source}, column {name!r}: {length} cells where the table has {n} rows")
        self.columns = dict(columns)
        self.rows = np.arange(n) if rows is None else rows
        self.source = source
        self.notes = tuple(notes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The empty shape ``()``: a row has no size before it is encoded."""
        return ()

    @property
    def in_memory(self) -> bool:
        """Always: the cells are there."""
        return True

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in the order of the source."""
        return tuple(self.columns)

    def __len__(self) -> int:
        return len(self.rows)

    def where(self, row: int, column: str | None = None) -> str:
        """Name a place as messages do.

        Args:
            row: Which row, counted from 0 within this table.
            column: Which column, or None for the whole row.
        """
        place = f"{self.source}, row {int(self.rows[row])}"
        return place if column is None else f"{place}, column {column!r}"

    def take(self, index: Tensor) -> NoReturn:
        """Refuse: there are no numbers to take before the table is encoded."""
        raise InputError(
            "a table must be encoded before a network can take its rows; fit a TableEncoder, or call "
            "anchored.features.encode first"
        )

    def subset(self, index: Tensor) -> TableInputs:
        """Return the rows at ``index``, in that order."""
        places = index.cpu().numpy().astype(np.int64, copy=False)
        return TableInputs(
            {name: column.take(places) for name, column in self.columns.items()},
            rows=self.rows[places],
            source=self.source,
            notes=self.notes,
        )

    def without(self, names: Collection[str]) -> TableInputs:
        """Return the table without some of its columns.

        Args:
            names: The columns to leave out.

        Returns:
            A table that shares the other columns.

        Raises:
            InputError: If there is no such column; the nearest names are given.
        """
        for name in names:
            if name not in self.columns:
                raise InputError(f"{self.source}: there is no column {name!r} to drop; {suggest(name, self.columns)}")
        kept = {name: column for name, column in self.columns.items() if name not in names}
        return TableInputs(kept, rows=self.rows, source=self.source, notes=self.notes)

    def row(self, index: int) -> dict[str, str | None]:
        """Return one row as people read it: text by column, None for a missing cell."""
        place = np.array([index])
        return {name: column.take(place).cells()[0] for name, column in self.columns.items()}


def text_columns(inputs: object) -> tuple[str, ...]:
    """Return the names of the columns that hold texts; none if the inputs are no table.

    Example:
        >>> text_columns(TableInputs({"a": NumberColumn(np.zeros(0)), "b": TextColumn(np.zeros(0, np.int32), ())}))
        ('b',)
    """
    if not isinstance(inputs, TableInputs):
        return ()
    return tuple(name for name, column in inputs.columns.items() if isinstance(column, TextColumn))


@dataclass(frozen=True, eq=False)
class TableChunk:
    """Consecutive rows of a table, each with its cells or with the reason why it has none.

    Args:
        rows: What the source calls each row, ``(m,)``.
        table: The cells of those that could be read.
        errors: Why the others could not, by their place in ``rows``.
    """

    rows: Index
    table: TableInputs
    errors: Mapping[int, str] = field(default_factory=dict)


def check_names(names: Sequence[str], source: str) -> list[str]:
    """Check the names of a table's columns and give a name to those without.

    Args:
        names: The names as the source has them.
        source: What a message calls the table.

    Returns:
        The names without blanks around them; an empty one becomes ``"Unnamed: 3"``, counted from 0.

    Raises:
        InputError: If there is no column, a name occurs twice, or there are more than :data:`MAX_COLUMNS`.

    Example:
        >>> check_names(["", " age "], "t.csv")
        ['Unnamed: 0', 'age']
    """
    if not names:
        raise InputError(f"{source}: there are no columns")
    if len(names) > MAX_COLUMNS:
        raise InputError(
            f"{source}: a table may have at most {MAX_COLUMNS:,} columns, got {len(names):,}; "
            "keep fewer, or put the numbers into one list column or an .npz file"
        )
    clean = [name.strip() or f"Unnamed: {place}" for place, name in enumerate(names)]
    if len(set(clean)) < len(clean):
        twice = [name for name, count in Counter(clean).items() if count > 1]
        more = f" (and {len(twice) - 1} others)" if len(twice) > 1 else ""
        places = [str(place + 1) for place, name in enumerate(clean) if name == twice[0]]
        raise InputError(
            f"{source}: column names must differ, got {twice[0]!r} for columns {' and '.join(places[:3])}{more}; "
            "rename one"
        )
    return clean

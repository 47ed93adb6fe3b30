"""CSV and Parquet read a chunk at a time, so that the memory does not grow with the rows.

:func:`~anchored.data.load_table` reads a table whole, as training needs it; prediction does not, and a table to be
predicted can be as long as it likes. Columns are told apart by the same rules, images by the first rows alone. A row
that cannot be used (a cell that is no number, a picture that is not there) is an error of that row; what is wrong with
the file as a whole (a column that the model needs is missing) is refused before the first chunk.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from anchored._errors import InputError
from anchored._names import is_number
from anchored.data.chunk import Chunk, chunk_size, image_chunks
from anchored.data.table import (
    _DELIMITERS,
    Floats,
    _check_distinct,
    _check_heading,
    _feature_columns,
    _image_column,
    _is_row_number,
    _label_column,
    _number,
    _outside_quotes,
    _parquet,
    _records,
    _Table,
)

__all__ = ["TABLES", "stream_table"]

TABLES = (".csv", ".tsv", ".parquet", ".pq")
"""How the names of tables end."""
_HEAD = 100
_BUFFER = 2**16
_PARQUET = (".parquet", ".pq")


class _Block(Protocol):
    """Some rows of a table, and the cells of the columns asked for."""

    @property
    def rows(self) -> Sequence[int]:
        """What the rows are called."""
        ...

    def texts(self) -> list[str | InputError]:
        """The cells of the one column, or what is wrong with the row."""
        ...

    def numbers(self) -> tuple[Floats, dict[int, str]]:
        """The rows that are all numbers, and by place what is wrong with the others."""
        ...


@dataclass(frozen=True)
class _Reader:
    """A table that is open for reading: its first rows, and all its rows block by block."""

    head: _Table
    blocks: Callable[[list[str], int], Iterator[_Block]]
    typed: bool
    """Whether a column is known to be text for all its rows, or by the first of them."""


def stream_table(
    path: str | Path,
    *,
    shape: tuple[int, ...],
    label: str | None = None,
    image: str | None = None,
    root: str | Path | None = None,
    columns: Sequence[str] | None = None,
    size: int | None = None,
) -> Iterator[Chunk]:
    r"""The rows of a table for a model that takes inputs of ``shape``; labels are not looked at.

    Args:
        path: The file; ``.parquet`` and ``.pq`` are Parquet, anything else CSV.
        shape: The model's input: ``(d,)`` for numeric columns, ``(c, h, w)`` for a column of image paths.
        label: A column to leave out, where ``columns`` does not say which ones count.
        image: The column of image paths; by default a text column whose first cells end like image files.
        root: Where image paths start; by default the folder of the file.
        columns: The features, in the model's order; by default all where there are as many as the model
            takes, else every column but the label.
        size: Rows per chunk; by default what :func:`~anchored.data.chunk.chunk_size` says.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "new.csv")
        >>> _ = path.write_text("x,y2\n1,2\n3,oops\n5,6\n")
        >>> (chunk,) = stream_table(path, shape=(2,))
        >>> list(chunk.ids), chunk.inputs.tolist()
        (['row 2', 'row 3', 'row 4'], [[1.0, 2.0], [5.0, 6.0]])
        >>> chunk.errors[1].partition(", ")[2]
        "row 3, column 'y2': features must be numbers, got 'oops'; encode text as numbers, or drop the column"
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    reader = _open_parquet(path) if path.suffix.lower() in _PARQUET else _open_csv(path)
    if not reader.head.rows:
        raise InputError(f"{path}: the table has a heading but no rows")
    size = size or chunk_size(shape)
    rest = _inputs(reader.head, shape, label, columns)
    if len(shape) == 3:
        column = _image_column(reader.head, rest, image)
        if column is None:
            raise InputError(
                f"{path}: the model takes images of shape {shape}, the table has no column of image paths; "
                "name it with --image COLUMN"
            )
        written = (list(zip(block.rows, block.texts(), strict=True)) for block in reader.blocks([column], size))
        return image_chunks(written, where=path, root=Path(root or path.parent), shape=shape)
    features = _feature_columns(reader.head, rest, columns)
    if shape != (len(features),):
        raise InputError(f"{path}: the model takes inputs of shape {shape}, the table has {len(features)} features")
    _check_numeric(reader, features)
    return _features(reader.blocks(features, size))


def _check_numeric(reader: _Reader, features: list[str]) -> None:
    """Refuse a column of text now: it would be an error in every row."""
    for column in features:
        cells = reader.head.text(column) if reader.head.is_text(column) else []
        if reader.head.is_text(column) and (reader.typed or not any(map(is_number, cells))):
            raise InputError(
                f"{reader.head.path}, column {column!r}: features must be numbers, got {cells[0]!r}; "
                "encode it, or drop it"
            )


def _inputs(head: _Table, shape: tuple[int, ...], label: str | None, columns: Sequence[str] | None) -> list[str]:
    """The columns that can be inputs: with the model's own at hand all, else all but a label and a row number."""
    if columns is not None:
        return head.columns
    named = [column for column in head.columns if not _is_row_number(column)] or head.columns
    if label is None and shape == (len(named),):
        return named  # just as many as the model takes: a column called "y" is a feature then, not the label
    label_column = _label_column(head, label, needed=False)
    return [column for column in named if column != label_column]


def _features(blocks: Iterator[_Block]) -> Iterator[Chunk]:
    for block in blocks:
        values, errors = block.numbers()
        yield Chunk([f"row {row}" for row in block.rows], torch.from_numpy(values).to(torch.float32), errors)


def _finite(values: Floats, row_of: Callable[[int], str], columns: list[str]) -> tuple[Floats, dict[int, str]]:
    """The rows of ``values`` that float32 can hold, and why the others are left out."""
    with np.errstate(over="ignore"):  # what is too large for float32 is named just below
        bad = ~np.isfinite(values.astype(np.float32))
    if not bad.any():
        return values, {}
    errors = {
        int(i): f"{row_of(int(i))}, column {columns[int(bad[i].argmax())]!r}: "
        f"features must be finite in single precision, got {values[i, int(bad[i].argmax())]}; fill or drop them"
        for i in np.flatnonzero(bad.any(axis=1))
    }
    return values[~bad.any(axis=1)], errors


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Within, a file that is no text or cannot be read is refused in one line."""
    try:
        yield
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text; save it as UTF-8") from None
    except (OSError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None


def _open_csv(path: Path) -> _Reader:
    with _readable(path):
        with path.open(encoding="utf-8-sig", newline="") as file:
            delimiter = max(_DELIMITERS, key=_outside_quotes(file.readline()).count)
        records = _records(path, delimiter)
        _, heading = next(records, (1, []))
        columns = [name.strip() for name in heading]
        _check_heading(path, columns)
        first = list(islice(records, _HEAD))
    whole = [record for _, record in first if len(record) == len(columns)]

    def text(column: str) -> list[str]:
        return [record[columns.index(column)].strip() for record in whole]

    def is_text(column: str) -> bool:
        return bool(whole) and not is_number(whole[0][columns.index(column)])

    def blocks(wanted: list[str], size: int) -> Iterator[_Block]:
        layout = _Layout(path, columns, [columns.index(column) for column in wanted], delimiter)
        with _readable(path), path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=delimiter)
            while not next(reader):
                pass
            row = reader.line_num
            while lines := list(islice(file, size)):
                if any('"' in line for line in lines):
                    break  # a quoted field may hold a line's end, so from here on lines are not rows
                yield _CsvBlock(layout, [row + 1 + i for i, line in enumerate(lines) if line.strip("\r\n")], lines)
                row += len(lines)
            reader = csv.reader(chain(lines, file), delimiter=delimiter)
            rest = ((row + reader.line_num, record) for record in reader if record)
            while block := list(islice(rest, size)):
                yield _CsvBlock(layout, [number for number, _ in block], None, [record for _, record in block])

    return _Reader(_Table(path, columns, [row for row, _ in first], text, _no_numbers, is_text), blocks, typed=False)


def _no_numbers(_: list[str]) -> Floats:
    raise NotImplementedError("the first rows are read for their columns only")


@dataclass(frozen=True)
class _Layout:
    """How a CSV file is laid out, and which of its columns are wanted."""

    path: Path
    columns: list[str]
    places: list[int]
    delimiter: str

    def cells(self, row: int, record: list[str]) -> list[str]:
        """The wanted cells of a record."""
        if len(record) != len(self.columns):
            raise InputError(
                f"{self.path}, row {row}: {len(record)} fields where the heading names {len(self.columns)}; "
                f"quote a field that contains {self.delimiter!r}, or correct the row"
            )
        return [record[place] for place in self.places]

    def values(self, row: int, record: list[str]) -> list[float]:
        """The wanted cells as numbers."""
        return [
            _number(cell, f"{self.path}, row {row}, column {self.columns[place]!r}")
            for cell, place in zip(self.cells(row, record), self.places, strict=True)
        ]


@dataclass(frozen=True)
class _CsvBlock:
    """Rows of a CSV file: as lines, where no field is quoted, or as records."""

    layout: _Layout
    rows: Sequence[int]
    lines: list[str] | None
    split: list[list[str]] | None = None

    def records(self) -> list[list[str]]:
        if self.split is not None:
            return self.split
        return [record for record in csv.reader(self.lines or (), delimiter=self.layout.delimiter) if record]

    def texts(self) -> list[str | InputError]:
        cells: list[str | InputError] = []
        for row, record in zip(self.rows, self.records(), strict=True):
            try:
                cells.append(self.layout.cells(row, record)[0].strip())
            except InputError as error:
                cells.append(error)
        return cells

    def numbers(self) -> tuple[Floats, dict[int, str]]:
        names = [self.layout.columns[place] for place in self.layout.places]
        values = self._parsed()
        if values is not None:
            return _finite(values, lambda i: f"{self.layout.path}, row {self.rows[i]}", names)
        good: list[list[float]] = []
        places: list[int] = []
        errors: dict[int, str] = {}
        for place, (row, record) in enumerate(zip(self.rows, self.records(), strict=True)):
            try:
                good.append(self.layout.values(row, record))
                places.append(place)
            except InputError as error:
                errors[place] = str(error)
        values = np.array(good, dtype=np.float64).reshape(len(good), len(names))
        kept, infinite = _finite(values, lambda i: f"{self.layout.path}, row {self.rows[places[i]]}", names)
        return kept, errors | {places[i]: reason for i, reason in infinite.items()}

    def _parsed(self) -> Floats | None:
        """The numbers parsed in C, twice as fast; None where a line is not as it should be, to find out which."""
        bars = len(self.layout.columns) - 1
        if not self.lines or any(line.count(self.layout.delimiter) != bars for line in self.lines):
            return None
        try:
            values = np.loadtxt(
                self.lines, delimiter=self.layout.delimiter, comments=None, usecols=self.layout.places, ndmin=2
            )
        except ValueError:
            return None
        return values if len(values) == len(self.rows) else None


def _open_parquet(path: Path) -> _Reader:
    with _parquet(path) as (pa, pq):
        # Read through a small buffer: a row group, often a million rows, would be taken into memory whole.
        file: Any = pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER)
        schema = file.schema_arrow
        columns = [str(name) for name in schema.names]
        _check_distinct(path, columns)
        head: Any = next(file.iter_batches(batch_size=_HEAD), None)

    def is_text(column: str) -> bool:
        kind = schema.field(column).type
        return not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))

    def text(column: str) -> list[str]:
        return ["" if value is None else str(value) for value in head.column(column).to_pylist()]

    def blocks(wanted: list[str], size: int) -> Iterator[_Block]:
        row = 0
        with _parquet(path):
            for batch in file.iter_batches(batch_size=size, columns=wanted):
                yield _ParquetBlock(path, range(row, row + batch.num_rows), batch, wanted)
                row += batch.num_rows

    rows = range(0 if head is None else head.num_rows)
    return _Reader(_Table(path, columns, rows, text, _no_numbers, is_text), blocks, typed=True)


@dataclass(frozen=True)
class _ParquetBlock:
    """Rows of a Parquet file."""

    path: Path
    rows: Sequence[int]
    batch: Any
    columns: list[str]

    def texts(self) -> list[str | InputError]:
        return ["" if value is None else str(value) for value in self.batch.column(0).to_pylist()]

    def numbers(self) -> tuple[Floats, dict[int, str]]:
        # Not a safe cast: a whole number beyond 2**53 is rounded, as it is when the table is read whole.
        columns = [self.batch.column(column).cast("float64", safe=False) for column in self.columns]
        cells = np.stack([column.to_numpy(zero_copy_only=False) for column in columns], axis=1)
        return _finite(cells, lambda i: f"{self.path}, row {self.rows[i]}", self.columns)

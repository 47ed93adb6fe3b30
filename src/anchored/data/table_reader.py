"""CSV and Parquet files as blocks of rows, so that reading one takes no more memory than a block.

CSV may be separated by comma, semicolon, tab or bar, begin with a byte order mark and quote its fields. Rows are
counted as a spreadsheet shows them, the heading being row 1; in Parquet, which has no heading, from 0. Numbers are
parsed in C; only if that fails is the block read again cell by cell, to name the row and column at fault. What is wrong
with one row is an error of that row, in its block; what is wrong with the file as a whole is refused.
"""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from anchored._errors import InputError
from anchored._names import is_number

__all__ = ["TABLES", "Block", "Table", "open_table"]

TABLES = (".csv", ".tsv", ".parquet", ".pq")
"""Endings of the names of tables."""
Floats = npt.NDArray[np.float64]

_PARQUET = (".parquet", ".pq")
_DELIMITERS = ",;\t|"
_HEAD = 100
_BUFFER = 2**16


class Block(Protocol):
    """Some rows of a table, and the cells of the columns asked for."""

    @property
    def rows(self) -> Sequence[int]:
        """What the rows are called."""
        ...

    def texts(self) -> list[str | InputError]:
        """Return the cells of the first column asked for, or what is wrong with the row."""
        ...

    def numbers(self) -> tuple[Floats, dict[int, str]]:
        """Return the rows that are all finite numbers, and by place what is wrong with the others."""
        ...


class Table(ABC):
    """A table that is open for reading: its columns, its first rows, and all rows block by block."""

    path: Path
    columns: list[str]
    typed: bool
    """Whether the file says which columns are text (Parquet), or their first cells do (CSV)."""

    @property
    @abstractmethod
    def empty(self) -> bool:
        """Whether there are no rows."""

    @abstractmethod
    def head(self, column: str) -> list[str]:
        """Return the first cells of a column as text."""

    @abstractmethod
    def is_text(self, column: str) -> bool:
        """Whether a column holds something else than numbers, by its type or by its first cell."""

    @abstractmethod
    def blocks(self, wanted: Sequence[str], size: int) -> Iterator[Block]:
        """Read all rows from front to back.

        Args:
            wanted: The columns whose cells the blocks give.
            size: Rows per block.

        Returns:
            The blocks in order.
        """

    def numbers(self, wanted: Sequence[str]) -> Floats | None:
        """Read columns of numbers whole, if there is a faster way than by blocks and nothing is wrong with any cell.

        Args:
            wanted: The columns.

        Returns:
            The cells ``(n, d)``, perhaps with infinities; None if the blocks must be asked.
        """
        return None


def open_table(path: str | Path) -> Table:
    r"""Open a CSV or Parquet file; ``.parquet`` and ``.pq`` are Parquet, anything else CSV.

    Raises:
        InputError: If the file cannot be read, or has no heading or no rows.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "new.csv")
        >>> _ = path.write_text("x;y\n1;2\n3;oops\n")
        >>> (block,) = open_table(path).blocks(["y"], 10)
        >>> list(block.rows), block.texts(), block.numbers()[0].tolist()
        ([2, 3], ['2', 'oops'], [[2.0]])
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    table = _Parquet(path) if path.suffix.lower() in _PARQUET else _Csv(path)
    if table.empty:
        raise InputError(f"{path}: the table has a heading but no rows")
    return table


class _Csv(Table):
    typed = False

    def __init__(self, path: Path) -> None:
        self.path = path
        with _readable(path):
            with path.open(encoding="utf-8-sig", newline="") as file:
                self.delimiter = max(_DELIMITERS, key=_outside_quotes(file.readline()).count)
            with path.open(encoding="utf-8-sig", newline="") as file:
                records = (record for record in csv.reader(file, delimiter=self.delimiter) if record)
                self.columns = [name.strip() for name in next(records, [])]
                _check_heading(path, self.columns)
                first = list(islice(records, _HEAD))
        self.place = {name: place for place, name in enumerate(self.columns)}
        self._empty = not first
        self._whole = [record for record in first if len(record) == len(self.columns)]

    @property
    def empty(self) -> bool:
        return self._empty

    def head(self, column: str) -> list[str]:
        return [record[self.place[column]].strip() for record in self._whole]

    def is_text(self, column: str) -> bool:
        return bool(self._whole) and not is_number(self._whole[0][self.place[column]])

    def blocks(self, wanted: Sequence[str], size: int) -> Iterator[Block]:
        with _readable(self.path), self.path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=self.delimiter)
            while not next(reader):
                pass
            row = reader.line_num
            while lines := list(islice(file, size)):
                if any('"' in line for line in lines):
                    break  # a quoted field may hold a line's end, so from here on lines are not rows
                rows = [row + 1 + i for i, line in enumerate(lines) if line.strip("\r\n")]
                yield _CsvBlock(self, wanted, rows, lines)
                row += len(lines)
            reader = csv.reader(chain(lines, file), delimiter=self.delimiter)
            rest = ((row + reader.line_num, record) for record in reader if record)
            while block := list(islice(rest, size)):
                yield _CsvBlock(self, wanted, [number for number, _ in block], None, [record for _, record in block])

    def numbers(self, wanted: Sequence[str]) -> Floats | None:
        try:
            with self.path.open(encoding="utf-8-sig", newline="") as file:
                places = [self.place[column] for column in wanted]
                return np.loadtxt(
                    file, delimiter=self.delimiter, comments=None, quotechar='"', skiprows=1, usecols=places, ndmin=2
                )
        except ValueError:
            return None

    def ragged(self, row: int, record: list[str]) -> InputError:
        return InputError(
            f"{self.path}, row {row}: {len(record)} fields where the heading names {len(self.columns)}; "
            f"quote a field that contains {self.delimiter!r}, or correct the row"
        )


@dataclass(frozen=True)
class _CsvBlock:
    """Rows of a CSV file: as lines, if no field is quoted, or as records."""

    table: _Csv
    wanted: Sequence[str]
    rows: Sequence[int]
    lines: list[str] | None
    split: list[list[str]] | None = None

    def records(self) -> Iterator[tuple[int, list[str]]]:
        records = csv.reader(self.lines or (), delimiter=self.table.delimiter) if self.split is None else self.split
        return zip(self.rows, filter(None, records), strict=True)

    def texts(self) -> list[str | InputError]:
        place, count = self.table.place[self.wanted[0]], len(self.table.columns)
        return [
            record[place].strip() if len(record) == count else self.table.ragged(row, record)
            for row, record in self.records()
        ]

    def numbers(self) -> tuple[Floats, dict[int, str]]:
        path = self.table.path
        values = self._parsed()
        if values is not None:
            return _finite(values, lambda i: f"{path}, row {self.rows[i]}", self.wanted)
        good: list[list[float]] = []
        places: list[int] = []
        errors: dict[int, str] = {}
        for place, (row, record) in enumerate(self.records()):
            try:
                if len(record) != len(self.table.columns):
                    raise self.table.ragged(row, record)
                cells = ((column, record[self.table.place[column]]) for column in self.wanted)
                good.append([_number(cell, f"{path}, row {row}, column {column!r}") for column, cell in cells])
                places.append(place)
            except InputError as error:
                errors[place] = str(error)
        values = np.array(good, dtype=np.float64).reshape(len(good), len(self.wanted))
        kept, infinite = _finite(values, lambda i: f"{path}, row {self.rows[places[i]]}", self.wanted)
        return kept, errors | {places[i]: reason for i, reason in infinite.items()}

    def _parsed(self) -> Floats | None:
        """The numbers, parsed without a look at each cell; None if a row is not as it should be, to find out which."""
        places = [self.table.place[column] for column in self.wanted]
        count, delimiter = len(self.table.columns), self.table.delimiter
        try:
            if self.split is not None:
                if any(len(record) != count for record in self.split):
                    return None
                return np.array([[float(record[place]) for place in places] for record in self.split])
            if not self.lines or any(line.count(delimiter) != count - 1 for line in self.lines):
                return None
            values = np.loadtxt(self.lines, delimiter=delimiter, comments=None, usecols=places, ndmin=2)
        except ValueError:
            return None
        return values if len(values) == len(self.rows) else None


class _Parquet(Table):
    typed = True

    def __init__(self, path: Path) -> None:
        self.path = path
        with _parquet(path) as (pa, pq):
            # Read through a small buffer: a row group, often a million rows, would be taken into memory whole.
            self._file: Any = pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER)
            self.columns = [str(name) for name in self._file.schema_arrow.names]
            _check_distinct(path, self.columns)
            self._head: Any = next(self._file.iter_batches(batch_size=_HEAD), None)
        self._types = pa.types

    @property
    def empty(self) -> bool:
        return self._head is None or self._head.num_rows == 0

    def head(self, column: str) -> list[str]:
        return ["" if value is None else str(value) for value in self._head.column(column).to_pylist()]

    def is_text(self, column: str) -> bool:
        kind = self._file.schema_arrow.field(column).type
        numeric = (self._types.is_integer, self._types.is_floating, self._types.is_boolean)
        return not any(is_such(kind) for is_such in numeric)

    def blocks(self, wanted: Sequence[str], size: int) -> Iterator[Block]:
        row = 0
        with _parquet(self.path):
            for batch in self._file.iter_batches(batch_size=size, columns=list(wanted)):
                yield _ParquetBlock(self, wanted, range(row, row + batch.num_rows), batch)
                row += batch.num_rows


@dataclass(frozen=True)
class _ParquetBlock:
    """Rows of a Parquet file."""

    table: _Parquet
    wanted: Sequence[str]
    rows: Sequence[int]
    batch: Any

    def texts(self) -> list[str | InputError]:
        column = self.wanted[0]
        values = self.batch.column(column).to_pylist()
        if self.table.is_text(column):
            return ["" if value is None else str(value) for value in values]
        return [self._whole_number(row, column, value) for row, value in zip(self.rows, values, strict=True)]

    def _whole_number(self, row: int, column: str, value: object) -> str | InputError:
        if value is None:
            return InputError(f"{self.table.path}, row {row}: column {column!r} is empty; fill or drop the row")
        if isinstance(value, float) and not value.is_integer():
            where = f"{self.table.path}, row {row}, column {column!r}"
            return InputError(f"{where}: a label must be a whole number or text, got {value}")
        return str(int(value)) if isinstance(value, float) else str(value)

    def numbers(self) -> tuple[Floats, dict[int, str]]:
        # Not a safe cast: a whole number beyond 2**53 is rounded, as a float is all that a network takes.
        columns = [self.batch.column(column).cast("float64", safe=False) for column in self.wanted]
        cells = np.stack([column.to_numpy(zero_copy_only=False) for column in columns], axis=1)
        return _finite(cells, lambda i: f"{self.table.path}, row {self.rows[i]}", self.wanted)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Within, a file that is no text or cannot be read is refused in one line."""
    try:
        yield
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text; save it as UTF-8") from None
    except (OSError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None


@contextmanager
def _parquet(path: Path) -> Iterator[tuple[Any, Any]]:
    """``pyarrow`` and ``pyarrow.parquet``, for reading ``path``: what goes wrong within is told in one line."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError(
            f"{path}: reading Parquet needs pyarrow; pip install 'anchored[parquet]', or save it as CSV"
        ) from None
    try:
        yield pa, pq
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: not a readable Parquet file ({str(error).splitlines()[0]})") from None


def _outside_quotes(line: str) -> str:
    return "".join(line.split('"')[::2])


def _check_heading(path: Path, columns: list[str]) -> None:
    if not columns:
        raise InputError(f"{path}: the file is empty; its first row must name the columns")
    if all(is_number(name) for name in columns):
        raise InputError(
            f"{path}, row 1: it must name the columns, got numbers ({', '.join(columns[:3])}); add a heading"
        )
    _check_distinct(path, columns)


def _check_distinct(path: Path, columns: list[str]) -> None:
    seen: set[str] = set()
    for name in columns:
        if name in seen:
            raise InputError(f"{path}: column names must differ, got {name!r} twice; rename one")
        seen.add(name)


def _number(cell: str, where: str) -> float:
    if is_number(cell):
        return float(cell)
    if not cell.strip():
        raise InputError(f"{where}: the cell is empty; fill it or drop the row")
    comma = is_number(cell.replace(",", "."))
    way_out = "write decimals with a point" if comma else "encode text as numbers, or drop the column"
    raise InputError(f"{where}: features must be numbers, got {cell!r}; {way_out}")


def _finite(values: Floats, row_of: Callable[[int], str], columns: Sequence[str]) -> tuple[Floats, dict[int, str]]:
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

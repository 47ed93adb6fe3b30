"""CSV and TSV files as columns, strict about their structure.

Cells are separated by comma, semicolon, tab or bar; a cell may be quoted. A quote that is never closed, a row with more
or fewer cells than the heading, a heading that comes again and bytes that are no UTF-8 are refused with their row. Rows
are counted as lines, the heading being row 1. The file is read once, block by block: the csv module splits it in C, and
a column that holds numbers only is parsed by numpy and kept as such.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TextIO

import numpy as np

from anchored._errors import InputError
from anchored._names import is_number
from anchored.data.columns import Column, Floats, Index, NumberColumn, TableChunk, TableInputs, TextColumn, check_names

__all__ = ["MISSING_WORDS", "read_csv_columns", "stream_csv_columns"]

MISSING_WORDS = frozenset(
    (
        "",
        "NA",
        "N/A",
        "n/a",
        "#N/A",
        "NaN",
        "nan",
        "NAN",
        "null",
        "NULL",
        "Null",
        "None",
        "<NA>",
        "NaT",
        "#NULL!",
        "nil",
    )
)
"""What stands for a missing cell in any column; ``-`` and ``?`` count only in columns of numbers and dates."""

_DELIMITERS = ",;\t|"
_BLOCK_CELLS = 2**14  # small enough for the processor's cache: twice as fast as large blocks
_SAMPLE = 2**16
_LEADING_ZERO = re.compile(r"(?:\A|\x00)[+-]?0\d")


def read_csv_columns(
    path: str | Path, *, verbatim: Collection[str] = (), drop: Collection[str] = (), delimiter: str | None = None
) -> TableInputs:
    r"""Read a CSV or TSV file.

    Args:
        path: The file, in UTF-8; a byte order mark is dropped. Its first row names the columns.
        verbatim: Columns to keep as texts even if all their cells are numbers, e.g. the label.
        drop: Columns to leave out.
        delimiter: What separates cells; by default found from the first rows (a tab for ``.tsv``).

    Returns:
        The columns. Cells that are all numbers, or missing (:data:`MISSING_WORDS`), make a column of numbers; a code
        such as ``007`` stays a text.

    Raises:
        InputError: If the file is no such table; the line names the row and what to do.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "t.csv")
        >>> _ = path.write_text("age,town\n31,Seoul\n,Lima\n")
        >>> table = read_csv_columns(path)
        >>> table.columns["age"].cells(), table.columns["town"].cells(), table.rows.tolist()
        (['31', None], ['Seoul', 'Lima'], [2, 3])
    """
    with _opened(path, delimiter) as records:
        TableInputs({name: NumberColumn(np.empty(0)) for name in records.names}, source=str(path)).without(drop)
        makers = _makers(records.names, verbatim, drop)
        rows: list[Index] = []
        for numbers, block, _ in records.blocks():
            rows.append(numbers)
            _add(makers, block)
    if not rows:
        raise InputError(f"{path}: the table has a heading but no rows")
    columns: dict[str, Column] = {records.names[place]: maker.finish() for place, maker in makers.items()}
    return TableInputs(columns, rows=np.concatenate(rows), source=str(path))


def stream_csv_columns(path: str | Path, *, size: int, verbatim: Collection[str] = ()) -> Iterator[TableChunk]:
    r"""Read a CSV or TSV file some rows at a time, so that it may be of any length.

    Args:
        path: The file, as :func:`read_csv_columns` takes it.
        size: Rows per chunk.
        verbatim: Columns to keep as texts even if all their cells are numbers.

    Returns:
        The chunks in order. A row with too many or too few cells is an error in its chunk, and the others go on; a
        quote that is never closed is refused.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "t.csv")
        >>> _ = path.write_text("age,town\n31,Seoul\n5\n7,Lima\n")
        >>> (chunk,) = stream_csv_columns(path, size=10)
        >>> chunk.rows.tolist(), chunk.table.rows.tolist(), list(chunk.errors)
        ([2, 3, 4], [2, 4], [1])
    """
    with _opened(path) as records:
        for numbers, block, errors in records.blocks(size=size, lenient=True):
            makers = _makers(records.names, verbatim, ())
            _add(makers, block)
            kept = np.delete(numbers, list(errors))
            columns = {records.names[place]: maker.finish() for place, maker in makers.items()}
            yield TableChunk(numbers, TableInputs(columns, rows=kept, source=str(path)), errors)


@contextmanager
def _opened(path: str | Path, delimiter: str | None = None) -> Iterator[_Records]:
    """Open a file at its first row of data; within, what is no text or cannot be read is refused in one line."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: there is no such file" if not path.exists() else f"{path}: not a regular file")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield _begin(path, file, delimiter)
    except UnicodeDecodeError:
        raise InputError(_not_utf8(path)) from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None


def _begin(path: Path, file: TextIO, delimiter: str | None) -> _Records:
    sample = file.read(_SAMPLE)
    if "\x00" in sample:
        raise InputError(f"{path}: not a text file (it holds zero bytes); save it as CSV in UTF-8")
    file.seek(0)
    first = 0
    if sample[:4].lower() == "sep=" and len(sample) > 4:  # what Excel writes to tell itself the separator
        delimiter, first = sample[4], 1
        file.readline()
    if delimiter is None:
        delimiter = "\t" if path.suffix.lower() in (".tsv", ".tab") else _guess_delimiter(sample)
    records = _Records(path, file, delimiter, first)
    records.read_heading()
    if all(is_number(name) for name in records.heading):
        raise InputError(
            f"{path}, row {records.line}: the first row must name the columns, got numbers "
            f"({', '.join(records.names[:3])}); add a heading"
        )
    return records


def _makers(names: Sequence[str], verbatim: Collection[str], drop: Collection[str]) -> dict[int, _Maker]:
    return {place: _Maker(as_text=name in verbatim) for place, name in enumerate(names) if name not in drop}


def _add(makers: Mapping[int, _Maker], block: list[list[str]]) -> None:
    for place, cells in enumerate(zip(*block, strict=True)):
        if place in makers:
            makers[place].add(cells)


def _guess_delimiter(sample: str) -> str:
    """Return the separator that splits the first rows into the most, and equally many, cells."""
    lines = sample.splitlines(keepends=True)[:20]

    def score(delimiter: str) -> tuple[bool, int]:
        try:
            widths = [len(record) for record in csv.reader(lines, delimiter=delimiter, skipinitialspace=True) if record]
        except csv.Error:
            widths = []
        widths = widths[:-1] if len(widths) > 2 else widths  # the last line of the sample may be cut
        return len(set(widths)) == 1 and widths[0] > 1, widths[0] if widths else 0

    return max(_DELIMITERS, key=score)


class _Records:
    """The records of an open CSV file, in blocks, with the row of each.

    Attributes:
        line: The line at which the last record that was read ended.
        heading: The cells of the heading as they stand there.
        names: The names of the columns.
    """

    heading: list[str]
    names: list[str]

    def __init__(self, path: Path, file: TextIO, delimiter: str, first: int) -> None:
        self.path, self.delimiter, self.first = path, delimiter, first
        self.reader = csv.reader(file, delimiter=delimiter, skipinitialspace=delimiter != "\t", strict=True)

    @property
    def line(self) -> int:
        return self.first + self.reader.line_num

    def take(self, count: int) -> list[list[str]]:
        """Return the next records; a quote that is not closed is refused with the row in which it was opened."""
        before, found = self.line, []
        try:
            found = list(islice(self.reader, count))
        except csv.Error as error:
            raise InputError(self._broken(before, str(error))) from None
        return found

    def _broken(self, before: int, reason: str) -> str:
        """Read the block again, record by record, to name the row in which the broken record begins."""
        start = before + 1
        with self.path.open(encoding="utf-8-sig", newline="") as file:
            for _ in range(before):
                file.readline()
            reader = csv.reader(file, delimiter=self.delimiter, skipinitialspace=self.delimiter != "\t", strict=True)
            try:
                for _ in reader:
                    start = before + reader.line_num + 1
            except csv.Error:
                pass
        if "field limit" in reason:
            limit = f"{csv.field_size_limit():,}"
            return (
                f"{self.path}, row {start}: a cell of more than {limit} characters, perhaps a quote that is never "
                "closed; close it, or keep long texts in Parquet or JSON lines"
            )
        if "unexpected end" in reason:
            return (
                f"{self.path}, row {start}: a quote is opened and never closed; close it, or double a quote in a cell"
            )
        return (
            f"{self.path}, row {start}: text follows a closing quote (in row {self.line}), so a quote is not closed or "
            'not doubled; close it, or write "" for a quote within a quoted cell'
        )

    def read_heading(self) -> None:
        """Read the names of the columns, from the first row that is not blank."""
        while True:
            found = self.take(1)
            if not found:
                raise InputError(f"{self.path}: the file is empty; its first row must name the columns")
            if any(cell.strip() for cell in found[0]):
                self.heading, self.names = found[0], check_names(found[0], str(self.path))
                self._folded = _fold(found[0])
                return

    def blocks(
        self, *, size: int | None = None, lenient: bool = False
    ) -> Iterator[tuple[Index, list[list[str]], dict[int, str]]]:
        """Yield the row numbers and the records of each block, without blank rows, and what is wrong with others.

        Args:
            size: Records per block.
            lenient: Whether a row of another width, or the heading again, is an error of that row, by its place among
                the row numbers; otherwise it is refused.
        """
        width = len(self.heading)
        count = max(_BLOCK_CELLS // width, 16) if size is None else size
        while True:
            before = self.line
            block = self.take(count)
            if not block:
                return
            if self.line - before == len(block):
                numbers = np.arange(before + 1, self.line + 1)
            else:  # some cells hold line breaks
                lengths = [1 + sum(map(_line_breaks, record)) for record in block]
                numbers = before + 1 + np.concatenate([[0], np.cumsum(lengths)[:-1]])
            if set(map(len, block)) != {width}:
                kept = [place for place, record in enumerate(block) if record and any(map(str.strip, record))]
                numbers, block = numbers[kept], [block[place] for place in kept]
            errors = self._wrong(numbers, block)
            if errors and not lenient:
                more = f" (and {len(errors) - 1} more rows like it)" if len(errors) > 1 else ""
                what, semicolon, way_out = errors[min(errors)].partition("; ")
                raise InputError(f"{what}{more}{semicolon}{way_out}")
            if block:
                yield numbers, [record for place, record in enumerate(block) if place not in errors], errors

    def _wrong(self, numbers: Index, block: list[list[str]]) -> dict[int, str]:
        """Say which records are none: of another width than the heading, or the heading again."""
        width = len(self.heading)
        errors = {
            place: f"{self.path}, row {int(numbers[place])}: {len(record)} fields where the heading names {width}; "
            f"quote a field that contains {self.delimiter!r}, or correct the row"
            for place, record in enumerate(block)
            if len(record) != width
        }
        first = self._folded[0]
        place = next(
            (
                place
                for place, record in enumerate(block)
                if record and record[0].strip().casefold() == first and _fold(record) == self._folded
            ),
            None,
        )
        if place is not None:
            again = "the heading comes again; remove the row (files joined?)"
            errors[place] = f"{self.path}, row {int(numbers[place])}: {again}"
        return errors


def _fold(cells: Sequence[str]) -> list[str]:
    return [cell.strip().casefold() for cell in cells]


_LINE_BREAK = re.compile(r"\r\n|\r|\n")


def _line_breaks(cell: str) -> int:
    return len(_LINE_BREAK.findall(cell)) if "\n" in cell or "\r" in cell else 0


class _Maker:
    """Makes a column from blocks of cells: numbers as long as all cells are, otherwise texts.

    While a column holds numbers only, its text is kept packed beside them, one string per block, in case that a later
    block turns it into texts.
    """

    def __init__(self, *, as_text: bool) -> None:
        self.numbers: list[Floats] | None = None if as_text else []
        self.packed: list[str] = []
        self.gaps = False
        self.codes: list[np.ndarray[tuple[int], np.dtype[np.int32]]] = []
        self.place: defaultdict[str, int] = defaultdict()
        self.place.default_factory = self.place.__len__
        self.place[""] = 0

    def add(self, cells: tuple[str, ...]) -> None:
        if self.numbers is not None:
            values = self._parsed(cells)
            if values is not None:
                self.numbers.append(values)
                self.packed.append("\x00".join(cells))
                return
            self.numbers = None
            for block in self.packed:
                self._encode(block.split("\x00"))
            self.packed = []
        self._encode(cells)

    def _parsed(self, cells: tuple[str, ...]) -> Floats | None:
        filled: tuple[str, ...] | list[str] = cells
        if self.gaps:
            filled = ["nan" if cell in MISSING_WORDS else cell for cell in cells]
        try:
            values = np.fromiter(map(float, filled), dtype=np.float64, count=len(filled))
        except ValueError:
            if self.gaps:
                return None
            self.gaps = any(cell.strip() in MISSING_WORDS for cell in cells)
            return self._parsed(tuple(map(str.strip, cells))) if self.gaps else None
        text = "\x00".join(cells)
        # float() also reads 1_000, other scripts' digits and 007, which people use for codes.
        plain = text.isascii() and "_" not in text and not ("0" in text and _LEADING_ZERO.search(text))
        return values if plain else None

    def _encode(self, cells: tuple[str, ...] | list[str]) -> None:
        stripped = map(str.strip, cells)
        codes = np.fromiter(map(self.place.__getitem__, stripped), dtype=np.int32, count=len(cells))
        self.codes.append(codes - 1)

    def finish(self) -> Column:
        if self.numbers is not None:
            return NumberColumn(np.concatenate(self.numbers) if self.numbers else np.empty(0))
        if not self.codes:
            return TextColumn(np.empty(0, dtype=np.int32), ())
        return TextColumn(np.concatenate(self.codes), tuple(islice(self.place, 1, None)))


def _not_utf8(path: Path) -> str:
    """Say where the first byte stands that is no UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    offset = row = 0
    with path.open("rb") as file:
        while chunk := file.read(2**20):
            held = len(decoder.getstate()[0])
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError as error:
                place = error.start - held
                row += chunk[: max(place, 0)].count(b"\n")
                value = error.object[error.start]
                return (
                    f"{path}, row {row + 1}: not UTF-8 text (byte {offset + place} is 0x{value:02x}); save it as UTF-8 "
                    "(in Excel: CSV UTF-8)"
                )
            row += chunk.count(b"\n")
            offset += len(chunk)
    return f"{path}: not UTF-8 text (it ends within a character); save it as UTF-8"

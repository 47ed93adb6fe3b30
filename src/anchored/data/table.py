"""CSV and Parquet: numeric columns as features, or one column of image paths; a label column beside.

CSV may be separated by comma, semicolon, tab or bar, begin with a byte order mark and quote its fields. Rows are
counted as a spreadsheet shows them, the heading being row 1; in Parquet, which has no heading, from 0. Numbers are
parsed in C; only when that fails is the file read again cell by cell, to name the row and column at fault.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from anchored._errors import InputError
from anchored._names import is_number, suggest
from anchored.data.arrays import as_label_names
from anchored.data.dataset import UNLABELLED, Dataset, RowIds, Split
from anchored.data.duplicates import note_duplicates
from anchored.data.file_inputs import MEMORY_LIMIT, image_inputs
from anchored.data.images import IMAGE_SUFFIXES
from anchored.data.inputs import Inputs, TensorInputs
from anchored.data.labels import LabelPolicy, encode_labels, review_classes
from anchored.data.paths import below

__all__ = ["load_table"]

_LABEL_NAMES = ("label", "labels", "class", "target", "y")
_DELIMITERS = ",;\t|"
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Table:
    """Column names and how to get at their cells; ``rows[i]`` is what row ``i`` is called."""

    path: Path
    columns: list[str]
    rows: Sequence[int]
    text: Callable[[str], list[str]]
    numbers: Callable[[list[str]], Floats]
    is_text: Callable[[str], bool]

    def where(self, row: int) -> str:
        return f"{self.path}, row {self.rows[row]}"


def load_table(
    path: str | Path,
    *,
    label: str | None = None,
    image: str | None = None,
    root: str | Path | None = None,
    columns: Sequence[str] | None = None,
    class_names: tuple[str, ...] | None = None,
    labels: LabelPolicy = "required",
    shape: tuple[int, ...] | None = None,
    side: int | None = None,
    memory_limit: int = MEMORY_LIMIT,
) -> Split:
    """A data set from a CSV or Parquet file.

    Args:
        path: The file; ``.parquet`` and ``.pq`` are Parquet, anything else CSV.
        label: The label column; by default the only one called label, class, target or y.
        image: The column of image paths; by default a text column whose cells end like image files, if there is one.
        root: Where image paths start; by default the folder of the file.
        columns: The features, in this order; by default every column but the label. Prediction passes the model's.
        class_names: The names known from training, for data to be predicted or evaluated.
        labels: Whether a label column is needed.
        shape: ``(c, h, w)`` to bring images to.
        side: Ask for square images of this side.
        memory_limit: Bytes of pixels up to which images are kept in memory.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    table = _read_parquet(path) if path.suffix.lower() in (".parquet", ".pq") else _read_csv(path)
    if not table.rows:
        raise InputError(f"{path}: the table has a heading but no rows")
    label_column = _label_column(table, label, needed=labels == "required")
    rest = [column for column in table.columns if column != label_column]
    notes: list[str] = []
    unnamed = [column for column in rest if _is_row_number(column) and column not in (columns or ())]
    if unnamed and len(unnamed) < len(rest):
        # What pandas writes for its index: a count of the rows, which would give the label away where they are sorted.
        rest = [column for column in rest if column not in unnamed]
        notes.append("a column without a name was left out: it looks like a count of the rows")

    if label_column is None or labels == "ignored":
        codes, names = torch.full((len(table.rows),), UNLABELLED), class_names or ()
    else:
        given = table.text(label_column)
        if "" in given and labels == "required":
            raise InputError(
                f"{table.where(given.index(''))}: the label in column {label_column!r} is empty; fill or drop it"
            )
        present = [row for row, text in enumerate(given) if text]
        found, names = encode_labels(
            [given[row] for row in present], class_names, where=lambda i: table.where(present[i])
        )
        codes = torch.full((len(given),), UNLABELLED)
        codes[present] = found

    image = _image_column(table, rest, image) if columns is None else None
    inputs: Inputs
    ids: Sequence[str]
    if image is not None:
        inputs, ids, copies = _images(table, image, Path(root or path.parent), codes, shape, side, memory_limit)
        notes += copies
        if len(rest) > 1:
            notes.append(f"columns beside {image!r} were left out: {', '.join(c for c in rest if c != image)}")
        features = None
    else:
        features = _feature_columns(table, rest, columns)
        inputs, ids = _features(table, features, shape), RowIds(torch.tensor(table.rows))
        if len(features) < len(rest):
            notes.append(f"{len(rest) - len(features)} columns beside those asked for were left out")
    dataset = Dataset(
        name=path.stem,
        inputs=inputs,
        labels=codes,
        class_names=names,
        ids=ids,
        columns=None if features is None else tuple(features),
        notes=tuple(notes),
    )
    return Split(review_classes(dataset, where=path) if class_names is None and labels == "required" else dataset)


def _label_column(table: _Table, label: str | None, *, needed: bool) -> str | None:
    if label is not None:
        if label in table.columns:
            return label
        if needed:
            raise InputError(f"{table.path}: there is no label column {label!r}; {suggest(label, table.columns)}")
        return None
    usual = [column for column in table.columns if column.strip().lower() in _LABEL_NAMES]
    if len(usual) == 1:
        return usual[0]
    if not needed and not usual:
        return None
    found = (
        f"both {usual[0]!r} and {usual[1]!r} could be it"
        if usual
        else f"the columns are {', '.join(table.columns[:8])}"
    )
    raise InputError(f"{table.path}: which column is the label? {found}; name it with --label COLUMN")


def _is_row_number(column: str) -> bool:
    return column == "" or column.startswith(("Unnamed: ", "__index_level_"))


def _image_column(table: _Table, rest: list[str], image: str | None) -> str | None:
    if image is not None:
        if image not in rest:
            raise InputError(f"{table.path}: there is no image column {image!r}; {suggest(image, rest)}")
        return image
    paths = [
        column
        for column in rest
        if table.is_text(column) and all(Path(cell).suffix.lower() in IMAGE_SUFFIXES for cell in table.text(column))
    ]
    if len(paths) > 1:
        raise InputError(
            f"{table.path}: both {paths[0]!r} and {paths[1]!r} hold image paths; name one with image=COLUMN"
        )
    return paths[0] if paths else None


def _feature_columns(table: _Table, rest: list[str], columns: Sequence[str] | None) -> list[str]:
    if columns is None:
        if not rest:
            raise InputError(f"{table.path}: there is no column beside the label; add the features")
        return rest
    missing = [column for column in columns if column not in rest]
    if missing:
        raise InputError(
            f"{table.path}: column {missing[0]!r} is missing, and the model needs it; {suggest(missing[0], rest)}"
        )
    return list(columns)


def _features(table: _Table, features: list[str], shape: tuple[int, ...] | None) -> TensorInputs:
    if shape is not None and shape != (len(features),):
        raise InputError(
            f"{table.path}: the model takes inputs of shape {shape}, the table has {len(features)} features"
        )
    values = table.numbers(features)
    with np.errstate(over="ignore"):  # what is too large for float32 is found, and named, just below
        floats = values.astype(np.float32)
    bad = np.argwhere(~np.isfinite(floats))
    if len(bad):
        row, column = (int(i) for i in bad[0])
        raise InputError(
            f"{table.where(row)}, column {features[column]!r}: features must be finite in single precision, "
            f"got {values[row, column]} ({len(bad)} such in all); fill or drop them"
        )
    return TensorInputs(torch.from_numpy(floats))


def _images(
    table: _Table,
    image: str,
    root: Path,
    codes: torch.Tensor,
    shape: tuple[int, ...] | None,
    side: int | None,
    memory_limit: int,
) -> tuple[Inputs, list[str], list[str]]:
    ids = table.text(image)
    paths = [below(root, written, where=table.where(row)) for row, written in enumerate(ids)]
    for row, path in enumerate(paths):
        if not path.is_file():
            raise InputError(f"{table.where(row)}: there is no file {path}; correct the path, or give another root")
    return (
        image_inputs(paths, shape=shape, side=side, memory_limit=memory_limit),
        ids,
        list(note_duplicates(paths, ids, codes)),
    )


def _read_csv(path: Path) -> _Table:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            delimiter = max(_DELIMITERS, key=_outside_quotes(file.readline()).count)
        records = _records(path, delimiter)
        _, heading = next(records, (1, []))
        columns = [name.strip() for name in heading]
        _check_heading(path, columns)
        rows: list[int] = []
        kept: dict[int, list[str]] = {}
        for row, record in records:
            if len(record) != len(columns):
                raise InputError(
                    f"{path}, row {row}: {len(record)} fields where the heading names {len(columns)}; "
                    f"quote a field that contains {delimiter!r}, or correct the row"
                )
            if not rows:
                # Text is kept as it is read, numbers are not: their turn comes in C, at an eighth of the memory.
                kept = {place: [] for place, cell in enumerate(record) if not is_number(cell)}
            rows.append(row)
            for place, cells in kept.items():
                cells.append(record[place].strip())
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except (OSError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None

    def text(column: str) -> list[str]:
        place = columns.index(column)
        if place not in kept:
            kept[place] = [record[place].strip() for _, record in islice(_records(path, delimiter), 1, None)]
        return kept[place]

    def numbers(wanted: list[str]) -> Floats:
        places = [columns.index(column) for column in wanted]
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                values = np.loadtxt(
                    file, delimiter=delimiter, comments=None, quotechar='"', skiprows=1, usecols=places, ndmin=2
                )
            if len(values) == len(rows):
                return values
        except ValueError:
            pass
        cells = (
            _number(record[place], f"{path}, row {row}, column {columns[place]!r}")
            for row, record in islice(_records(path, delimiter), 1, None)
            for place in places
        )
        return np.fromiter(cells, dtype=np.float64).reshape(len(rows), len(places))

    return _Table(path, columns, rows, text, numbers, lambda column: columns.index(column) in kept)


def _records(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The records of a CSV file that are not blank, each with the row it ends in."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter)
        for record in reader:
            if record:
                yield reader.line_num, record


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
    twice = next((name for name in columns if columns.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{path}: column names must differ, got {twice!r} twice; rename one")


def _number(cell: str, where: str) -> float:
    if is_number(cell):
        return float(cell)
    if not cell.strip():
        raise InputError(f"{where}: the cell is empty; fill it or drop the row")
    comma = is_number(cell.replace(",", "."))
    way_out = "write decimals with a point" if comma else "encode text as numbers, or drop the column"
    raise InputError(f"{where}: features must be numbers, got {cell!r}; {way_out}")


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


def _read_parquet(path: Path) -> _Table:
    with _parquet(path) as (pa, pq):
        table: Any = pq.read_table(path)
    columns = [str(name) for name in table.column_names]
    _check_distinct(path, columns)

    def is_text(column: str) -> bool:
        kind = table.column(column).type
        return not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))

    def text(column: str) -> list[str]:
        values = table.column(column).to_pylist()
        if is_text(column):
            return ["" if value is None else str(value) for value in values]
        if None in values:
            raise InputError(f"{path}, row {values.index(None)}: column {column!r} is empty; fill or drop the row")
        return as_label_names(np.array(values), where=f"{path}, column {column!r}")

    def numbers(wanted: list[str]) -> Floats:
        for column in wanted:
            if is_text(column):
                kind = table.column(column).type
                raise InputError(
                    f"{path}, column {column!r}: features must be numbers, got {kind}; encode it, or drop it"
                )
        arrays = [table.column(column).to_numpy().astype(np.float64) for column in wanted]
        return np.stack(arrays, axis=1)

    return _Table(path, columns, range(table.num_rows), text, numbers, is_text)

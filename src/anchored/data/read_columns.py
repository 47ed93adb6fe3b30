"""A file with a table, whatever its format, as columns; or as a data set of rows with labels."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored.data.arrow_columns import read_parquet_columns, stream_parquet_columns
from anchored.data.columns import TableChunk, TableInputs
from anchored.data.csv_columns import read_csv_columns, stream_csv_columns
from anchored.data.dataset import UNLABELLED, Dataset, RowIds, Split
from anchored.data.excel_columns import read_excel_columns
from anchored.data.json_columns import read_json_columns, stream_json_columns
from anchored.data.label_column import LABEL_NAMES, find_label, label_texts
from anchored.data.labels import LabelPolicy, encode_labels, review_if_trained_on

__all__ = ["TABLES", "LabelledTable", "load_columns", "read_columns", "read_labelled", "stream_columns"]

_CSV = (".csv", ".tsv", ".tab")
_PARQUET = (".parquet", ".pq")
_JSON = (".jsonl", ".ndjson", ".json")
_EXCEL = (".xlsx", ".xlsm")
TABLES = (*_CSV, *_PARQUET, *_JSON, *_EXCEL, ".xls")
"""Endings of the names of tables; the last is refused with the way out."""


def read_columns(path: str | Path, *, verbatim: Collection[str] = (), drop: Collection[str] = ()) -> TableInputs:
    r"""Read a table from a CSV, TSV, Parquet, JSON-lines or Excel file.

    Args:
        path: The file; its ending says the format.
        verbatim: Columns to keep as texts even if all their cells are numbers (in CSV), e.g. the label.
        drop: Columns to leave out.

    Returns:
        Named columns with raw values.

    Raises:
        InputError: If the file is no such table; the line names the row and what to do.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "t.tsv")
        >>> _ = path.write_text("age\ttown\n31\tSeoul\n")
        >>> read_columns(path).names
        ('age', 'town')
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix in _PARQUET:
        return read_parquet_columns(path, drop=drop)
    if suffix in _JSON:
        return read_json_columns(path, drop=drop)
    if suffix in _EXCEL:
        return read_excel_columns(path, drop=drop)
    if suffix == ".xls":
        raise InputError(f"{path}: the old Excel format cannot be read; save it as .xlsx or CSV")
    return read_csv_columns(path, verbatim=verbatim, drop=drop)


def stream_columns(path: str | Path, *, size: int, verbatim: Collection[str] = ()) -> Iterator[TableChunk]:
    r"""Read a table some rows at a time: CSV, Parquet and JSON lines within bounded memory, Excel whole.

    Args:
        path: The file, as :func:`read_columns` takes it.
        size: Rows per chunk.
        verbatim: Columns to keep as texts even if all their cells are numbers (in CSV).

    Returns:
        The chunks in order; a row that is none is an error in its chunk.

    Raises:
        InputError: If the file is no such table, before the first chunk, or breaks off.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "t.csv")
        >>> _ = path.write_text("age\n31\n45\n52\n")
        >>> [len(chunk.table) for chunk in stream_columns(path, size=2)]
        [2, 1]
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix in _PARQUET:
        chunks = stream_parquet_columns(path, size=size)
    elif suffix in _JSON:
        chunks = stream_json_columns(path, size=size)
    elif suffix in (*_EXCEL, ".xls"):
        chunks = _in_chunks(read_columns(path), size)
    else:
        chunks = stream_csv_columns(path, size=size, verbatim=verbatim)
    first = next(chunks, None)  # what is wrong with the file as a whole is told now
    if first is None:
        raise InputError(f"{path}: the table has a heading but no rows")
    return chain([first], chunks)


def _in_chunks(table: TableInputs, size: int) -> Iterator[TableChunk]:
    for start in range(0, len(table), size):
        some = table.subset(torch.arange(start, min(start + size, len(table))))
        yield TableChunk(some.rows, some)


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """A table as it was read, and the labels of its rows.

    Attributes:
        table: All columns but the label.
        labels: ``(n,)`` int64; -1 for none.
        class_names: The classes that labels point into.
    """

    table: TableInputs
    labels: Tensor
    class_names: tuple[str, ...]


def read_labelled(
    path: str | Path,
    *,
    label: str | None = None,
    verbatim: Collection[str] = (),
    drop: Collection[str] = (),
    features: Collection[str] = (),
    class_names: tuple[str, ...] | None = None,
    labels: LabelPolicy = "required",
) -> LabelledTable:
    """Read a table, and take its label column apart.

    Args:
        path: The file, as :func:`read_columns` takes it.
        label: The label column; by default the only one called label, class, target, y or the like.
        verbatim: Columns to keep as texts even if all their cells are numbers (in CSV).
        drop: Columns to leave out.
        features: Columns that are no label, whatever they are called.
        class_names: The names known from training, for data to be predicted or evaluated.
        labels: Whether a label column is needed.

    Returns:
        The other columns, and the labels.

    Raises:
        InputError: If the file is no table, or its label column cannot be found or cannot be a label.
    """
    usual = {name for word in LABEL_NAMES for name in (word, word.title(), word.upper())}
    kept = {*verbatim, label} if label is not None else {*verbatim, *usual}
    whole = read_columns(path, verbatim=kept, drop=drop)
    possible = [name for name in whole.names if label is not None or name not in features]
    found = find_label(possible, label, source=whole.source, needed=labels == "required")
    table = whole if found is None else whole.without([found])
    if not table.names:
        raise InputError(f"{whole.source}: there is no column beside the label; add the features")
    codes, names = torch.full((len(whole),), UNLABELLED), class_names or ()
    if found is not None and labels != "ignored":
        missing: Literal["refuse", "keep"] = "refuse" if labels == "required" else "keep"
        texts = label_texts(whole, found, missing=missing, as_category=class_names is not None)
        present = [place for place, text in enumerate(texts) if text is not None]
        given = [text for text in texts if text is not None]
        encoded, names = encode_labels(given, class_names, where=lambda i: whole.where(present[i], found))
        codes[present] = encoded
    return LabelledTable(table, codes, names)


def load_columns(
    path: str | Path,
    *,
    label: str | None = None,
    drop: Collection[str] = (),
    class_names: tuple[str, ...] | None = None,
    labels: LabelPolicy = "required",
) -> Split:
    r"""Read a table as a data set whose inputs are raw rows, to be encoded by a ``TableEncoder``.

    Args:
        path: The file, as :func:`read_columns` takes it.
        label: The label column; by default the only one called label, class, target, y or the like.
        drop: Columns to leave out.
        class_names: The names known from training, for data to be predicted or evaluated.
        labels: Whether a label column is needed.

    Returns:
        A split without a test set; its inputs are :class:`TableInputs` without the label column.

    Raises:
        InputError: If the file is no table, or its label column cannot be found or cannot be a label.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "t.csv")
        >>> _ = path.write_text("age,label\n31,yes\n25,no\n40,yes\n")
        >>> data = load_columns(path).train
        >>> data.columns, data.class_names, data.labels.tolist(), list(data.ids)
        (('age',), ('no', 'yes'), [1, 0, 1], ['row 2', 'row 3', 'row 4'])
    """
    read = read_labelled(path, label=label, drop=drop, class_names=class_names, labels=labels)
    data = Dataset(
        name=Path(path).stem,
        inputs=read.table,
        labels=read.labels,
        class_names=read.class_names,
        ids=RowIds(torch.from_numpy(read.table.rows)),
        columns=read.table.names,
        notes=read.table.notes,
    )
    return Split(review_if_trained_on(data, class_names, labels, where=path))

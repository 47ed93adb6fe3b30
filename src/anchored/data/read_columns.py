"""A file with a table, whatever its format, as columns; or as a data set of rows with labels."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Literal

import torch

from anchored._errors import InputError
from anchored.data.arrow_columns import read_parquet_columns
from anchored.data.columns import TableInputs
from anchored.data.csv_columns import read_csv_columns
from anchored.data.dataset import UNLABELLED, Dataset, RowIds, Split
from anchored.data.excel_columns import read_excel_columns
from anchored.data.json_columns import read_json_columns
from anchored.data.label_column import LABEL_NAMES, find_label, label_texts
from anchored.data.labels import LabelPolicy, encode_labels, review_classes

__all__ = ["TABLE_SUFFIXES", "load_columns", "read_columns"]

_CSV = (".csv", ".tsv", ".tab", ".txt")
_PARQUET = (".parquet", ".pq")
_JSON = (".jsonl", ".ndjson", ".json")
_EXCEL = (".xlsx", ".xlsm")
TABLE_SUFFIXES = frozenset((*_CSV, *_PARQUET, *_JSON, *_EXCEL))
"""Endings of file names that are taken for tables; another ending is read as CSV."""


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
    usual = {name for word in LABEL_NAMES for name in (word, word.title(), word.upper())}
    table = read_columns(path, verbatim={label} if label is not None else usual, drop=drop)
    found = find_label(table.names, label, source=table.source, needed=labels == "required")
    inputs = table if found is None else table.without([found])
    if not inputs.names:
        raise InputError(f"{table.source}: there is no column beside the label; add the features")
    codes, names = torch.full((len(table),), UNLABELLED), class_names or ()
    if found is not None and labels != "ignored":
        missing: Literal["refuse", "keep"] = "refuse" if labels == "required" else "keep"
        texts = label_texts(table, found, missing=missing, as_category=class_names is not None)
        present = [place for place, text in enumerate(texts) if text is not None]
        given = [text for text in texts if text is not None]
        encoded, names = encode_labels(given, class_names, where=lambda i: table.where(present[i], found))
        codes[present] = encoded
    data = Dataset(
        name=Path(path).stem,
        inputs=inputs,
        labels=codes,
        class_names=names,
        ids=RowIds(torch.from_numpy(table.rows)),
        columns=inputs.names,
        notes=table.notes,
    )
    return Split(review_classes(data, where=path) if class_names is None and labels == "required" else data)

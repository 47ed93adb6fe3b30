"""Data frames, arrays and sparse matrices as columns: what scikit-learn users hand over.

None of those packages is imported for its own sake: whoever has such an object has its package.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from anchored._errors import InputError
from anchored.data.arrow_columns import read_arrow_columns
from anchored.data.column_values import column_of, text_column
from anchored.data.columns import (
    MAX_COLUMNS,
    Column,
    NumberColumn,
    TableInputs,
    TextColumn,
    TimeColumn,
    check_names,
)

__all__ = ["MAX_DENSE_BYTES", "as_columns"]

MAX_DENSE_BYTES = 2**32
"""A sparse matrix that would take more than this as dense float64 is refused."""


def as_columns(data: Any, *, source: str | None = None, names: Sequence[str] | None = None) -> TableInputs:  # noqa: ANN401
    """Take a data frame, an array or a sparse matrix as a table of columns.

    Args:
        data: A pandas or polars frame, a pyarrow table, a mapping of names to values, a sparse matrix of numbers, or a
            two-dimensional array or list of rows with numbers, NaN, texts or None; a :class:`TableInputs` is returned
            as it is.
        source: What a message calls the table; by default what it is.
        names: The names of an array's columns; by default ``x0, x1, …``.

    Returns:
        The columns, with the rows counted from 0.

    Raises:
        InputError: If two columns have one name, the data is not two-dimensional, or it is too large.

    Example:
        >>> table = as_columns([[1.5, "red"], [None, "blue"]])
        >>> {name: column.cells() for name, column in table.columns.items()}
        {'x0': ['1.5', None], 'x1': ['red', 'blue']}
    """
    if isinstance(data, TableInputs):
        return data
    package = type(data).__module__.split(".")[0]
    if hasattr(data, "iloc") and hasattr(data, "columns"):
        return _from_pandas(data, source or "the data frame")
    if package == "pyarrow":
        return read_arrow_columns(data, source=source or "the table")
    if package == "polars" and hasattr(data, "columns"):
        return _from_polars(data, source or "the data frame")
    if hasattr(data, "tocsc") and hasattr(data, "nnz"):
        return _from_sparse(data, source or "the sparse matrix", names)
    if isinstance(data, Mapping):
        where = source or "the table"
        keys = check_names([str(key) for key in data], where)
        made = {
            key: column_of(list(values), f"{where}, column {key!r}")
            for key, values in zip(keys, data.values(), strict=True)
        }
        return TableInputs(made, source=where)
    return _from_array(data, source or "the array", names)


def _from_pandas(frame: Any, source: str) -> TableInputs:  # noqa: ANN401
    names = check_names([str(name) for name in frame.columns], source)
    columns = {name: _series(frame.iloc[:, place], f"{source}, column {name!r}") for place, name in enumerate(names)}
    return TableInputs(columns, rows=np.arange(len(frame)), source=source)


def _series(series: Any, where: str) -> Column:  # noqa: ANN401
    """Turn a pandas series into a column."""
    dtype = series.dtype
    name, kind = str(dtype), getattr(dtype, "kind", "O")
    if name == "category":
        codes = series.cat.codes.to_numpy().astype(np.int32)
        levels = text_column(series.cat.categories.tolist())
        return TextColumn(np.append(levels.codes, np.int32(-1))[codes], levels.levels)
    if name.startswith("datetime64"):
        if getattr(dtype, "tz", None) is not None:
            series = series.dt.tz_convert("UTC").dt.tz_localize(None)
        return TimeColumn(series.to_numpy().astype("datetime64[us]"))
    if name.startswith("timedelta64"):
        return NumberColumn(series.to_numpy() / np.timedelta64(1, "s"))
    if name.startswith("Sparse"):
        return NumberColumn(np.asarray(series.to_numpy(), dtype=np.float64))
    if kind == "b":
        gone = series.isna().to_numpy()
        flags = series.fillna(value=False).to_numpy().astype(bool)
        return TextColumn(np.where(gone, -1, np.where(flags, 0, 1)).astype(np.int32), ("true", "false"))
    if kind in "iuf":
        return NumberColumn(series.to_numpy(dtype=np.float64, na_value=np.nan))
    if kind == "c":
        raise InputError(f"{where}: complex numbers cannot be used; split them into two columns")
    if name in ("str", "string") or name.startswith("string["):
        codes, levels = series.factorize()
        texts = text_column(levels.tolist())
        return TextColumn(np.append(texts.codes, np.int32(-1))[codes], texts.levels)
    gone = series.isna().to_numpy()
    values = [None if empty else value for value, empty in zip(series.tolist(), gone, strict=True)]
    return column_of(values, where)


def _from_polars(frame: Any, source: str) -> TableInputs:  # noqa: ANN401
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        names = check_names(list(frame.columns), source)
        lists = {name: frame.get_column(column).to_list() for name, column in zip(names, frame.columns, strict=True)}
        return TableInputs({name: column_of(values, f"{source}, column {name!r}") for name, values in lists.items()})
    return read_arrow_columns(frame.to_arrow(), source=source)


def _from_sparse(matrix: Any, source: str, names: Sequence[str] | None) -> TableInputs:  # noqa: ANN401
    n, d = matrix.shape
    if d > MAX_COLUMNS or 8 * n * d > MAX_DENSE_BYTES:
        raise InputError(
            f"{source}: at most {MAX_COLUMNS:,} columns and {MAX_DENSE_BYTES // 2**30} GiB when written out, got "
            f"{n:,} x {d:,}; reduce it first, e.g. with sklearn.decomposition.TruncatedSVD"
        )
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"{source}: a sparse matrix must hold real numbers, got {matrix.dtype}")
    return _from_array(np.asarray(matrix.toarray(), dtype=np.float64), source, names)


def _from_array(data: Any, source: str, names: Sequence[str] | None) -> TableInputs:  # noqa: ANN401
    try:
        array = np.asarray(data)
        if array.dtype.kind in "USV" and not isinstance(data, np.ndarray):
            array = np.asarray(data, dtype=object)  # a list with a text among numbers: keep the numbers
    except ValueError:
        raise InputError(f"{source}: rows must all have the same number of cells") from None
    if array.ndim != 2:
        raise InputError(f"{source}: a table has two dimensions (rows, columns), got shape {array.shape}; reshape it")
    if array.dtype.kind == "c":
        raise InputError(f"{source}: complex numbers cannot be used; split them into two columns")
    names = check_names(
        [str(name) for name in names] if names is not None else [f"x{i}" for i in range(array.shape[1])], source
    )
    if len(names) != array.shape[1]:
        raise InputError(f"{source}: {len(names)} names for {array.shape[1]} columns; give one name per column")
    columns: dict[str, Column] = {}
    for place, name in enumerate(names):
        values, where = array[:, place], f"{source}, column {name!r}"
        if array.dtype.kind in "iuf":
            columns[name] = NumberColumn(values.astype(np.float64))
        elif array.dtype.kind == "M":
            columns[name] = TimeColumn(values.astype("datetime64[us]"))
        else:
            columns[name] = column_of(values.tolist(), where)
    return TableInputs(columns, rows=np.arange(len(array)), source=source)

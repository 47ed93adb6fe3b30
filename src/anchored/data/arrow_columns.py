"""Parquet files and Arrow tables as columns; polars and newer pandas frames come as Arrow tables too."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from anchored._errors import InputError
from anchored.data.column_values import column_of, joined, text_column
from anchored.data.columns import (
    Column,
    NumberColumn,
    TableChunk,
    TableInputs,
    TextColumn,
    TimeColumn,
    VectorColumn,
    check_names,
)

__all__ = ["read_arrow_columns", "read_parquet_columns", "stream_parquet_columns"]

_BUFFER = 2**16


def read_parquet_columns(path: str | Path, *, drop: Collection[str] = ()) -> TableInputs:
    """Read a Parquet file, column by column.

    Args:
        path: The file. Its rows are counted from 0, since it has no heading.
        drop: Columns to leave out; they are not read.

    Returns:
        The columns in the order of the file.

    Raises:
        InputError: If the file is no Parquet file, has no rows, or a column holds what is no cell of a table.
    """
    with _parquet(path) as file:
        found = [str(name) for name in file.schema_arrow.names]
        names = check_names(found, str(path))
        _check_dropped(names, drop, str(path))
        columns = {
            name: _column(file.read(columns=[as_found]).column(0), f"{path}, column {name!r}")
            for name, as_found in zip(names, found, strict=True)
            if name not in drop
        }
        n = int(file.metadata.num_rows)
    if n == 0:
        raise InputError(f"{path}: the table has columns but no rows")
    return TableInputs(columns, rows=np.arange(n), source=str(path))


def stream_parquet_columns(path: str | Path, *, size: int) -> Iterator[TableChunk]:
    """Read a Parquet file some rows at a time, through a small buffer, so that it may be of any length.

    Args:
        path: The file.
        size: Rows per chunk.

    Returns:
        The chunks in order.

    Raises:
        InputError: If the file is no Parquet file, or a column holds what is no cell of a table.
    """
    row = 0
    with _parquet(path, buffered=True) as file:
        names = check_names([str(name) for name in file.schema_arrow.names], str(path))
        for batch in file.iter_batches(batch_size=size):
            table = read_arrow_columns(batch, source=str(path))
            rows = np.arange(row, row + batch.num_rows)
            columns = dict(zip(names, table.columns.values(), strict=True))
            yield TableChunk(rows, TableInputs(columns, rows=rows, source=str(path)))
            row += batch.num_rows
    if row == 0:
        raise InputError(f"{path}: the table has columns but no rows")


@contextmanager
def _parquet(path: str | Path, *, buffered: bool = False) -> Iterator[Any]:
    """Open a Parquet file; what goes wrong within is told in one line.

    Args:
        path: The file.
        buffered: Whether to read through a small buffer; else a row group, often a million rows, is in memory whole.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: there is no such file" if not path.exists() else f"{path}: not a regular file")
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError(
            f"{path}: reading Parquet needs pyarrow; pip install 'anchored[parquet]', or save it as CSV"
        ) from None
    try:
        with pq.ParquetFile(path, **({"pre_buffer": False, "buffer_size": _BUFFER} if buffered else {})) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: not a readable Parquet file ({str(error).splitlines()[0]})") from None


def read_arrow_columns(table: Any, *, source: str = "the table", drop: Collection[str] = ()) -> TableInputs:  # noqa: ANN401
    """Take the columns of an Arrow table, or of a frame that can be handed over as one.

    Args:
        table: A ``pyarrow.Table`` or a batch of rows, or anything with ``__arrow_c_stream__``, such as a polars frame.
        source: What a message calls the table.
        drop: Columns to leave out.

    Returns:
        The columns, with the rows counted from 0.

    Raises:
        InputError: If two columns have one name, or a column holds what is no cell of a table.

    Example:
        >>> import pyarrow as pa
        >>> table = read_arrow_columns(pa.table({"n": [1, None], "c": ["x", "y"]}))
        >>> {name: column.cells() for name, column in table.columns.items()}
        {'n': ['1', None], 'c': ['x', 'y']}
    """
    import pyarrow as pa

    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    elif not isinstance(table, pa.Table):
        table = pa.table(table)
    names = check_names([str(name) for name in table.column_names], source)
    _check_dropped(names, drop, source)
    columns = {
        name: _column(table.column(place), f"{source}, column {name!r}")
        for place, name in enumerate(names)
        if name not in drop
    }
    return TableInputs(columns, rows=np.arange(table.num_rows), source=source)


def _check_dropped(names: list[str], drop: Collection[str], source: str) -> None:
    TableInputs({name: NumberColumn(np.empty(0)) for name in names}, source=source).without(drop)


def _column(values: Any, where: str) -> Column:  # noqa: ANN401
    """Turn a ``pyarrow.ChunkedArray`` into a column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type
    types = pa.types
    if types.is_boolean(kind):
        codes = pc.if_else(values, 0, 1).fill_null(-1).to_numpy().astype(np.int32)
        return TextColumn(codes, ("true", "false"))
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        # Not a safe cast: a whole number beyond 2**53 is rounded.
        return NumberColumn(_array(values.cast(pa.float64(), safe=False), np.float64))
    if types.is_timestamp(kind) or types.is_date(kind):
        return TimeColumn(_array(values.cast(pa.timestamp("us"), safe=False), "datetime64[us]"))
    if types.is_duration(kind):
        return NumberColumn(
            _array(values.cast(pa.duration("us"), safe=False), "timedelta64[us]") / np.timedelta64(1, "s")
        )
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return _vectors(values, where)
    if types.is_dictionary(kind):
        values = values.cast(kind.value_type)
        return _column(values, where)
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return _texts(values)
    if types.is_null(kind):
        return NumberColumn(np.full(len(values), np.nan))
    if types.is_time(kind):
        return column_of([None if value is None else value.isoformat() for value in values.to_pylist()], where)
    raise InputError(f"{where}: cells of type {kind} cannot be read; flatten or convert the column, or drop it")


def _array(values: Any, dtype: Any) -> Any:  # noqa: ANN401
    return np.asarray(values.to_numpy(), dtype=dtype)


def _texts(values: Any) -> TextColumn:  # noqa: ANN401
    encoded = values.combine_chunks().dictionary_encode()
    chunks = encoded.chunks if hasattr(encoded, "chunks") else [encoded]
    parts: list[Column] = []
    for chunk in chunks:
        codes = chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
        levels = text_column(chunk.dictionary.to_pylist())  # strips blanks, and finds blank texts
        parts.append(TextColumn(np.append(levels.codes, np.int32(-1))[codes], levels.levels))
    whole = joined(parts, "") if parts else TextColumn(np.empty(0, dtype=np.int32), ())
    assert isinstance(whole, TextColumn)
    return whole


def _vectors(values: Any, where: str) -> Column:  # noqa: ANN401
    import pyarrow as pa
    import pyarrow.compute as pc

    inner = values.type.value_type
    if not (pa.types.is_floating(inner) or pa.types.is_integer(inner)):
        raise InputError(f"{where}: a list column must hold numbers, got {values.type}; convert it, or drop the column")
    lengths = pc.list_value_length(values).drop_null().unique().to_pylist()
    if len(lengths) > 1:
        each = pc.list_value_length(values).to_pylist()
        usual = max(lengths, key=each.count)
        odd = next(place for place, length in enumerate(each) if length not in (usual, None))
        raise InputError(
            f"{where}: lists must have one length, got {usual} numbers in most cells and {each[odd]} in row {odd}; "
            "correct it, or drop the column"
        )
    width = lengths[0] if lengths else 0
    if width == 0:
        return NumberColumn(np.full(len(values), np.nan))
    dtype = np.float32 if pa.types.is_float32(inner) or pa.types.is_float16(inner) else np.float64
    array = np.full((len(values), width), np.nan, dtype=dtype)
    present = ~np.asarray(pc.is_null(values).to_numpy(), dtype=bool)
    flat = pc.list_flatten(values.drop_null()).cast(pa.float64(), safe=False)
    array[present] = _array(flat, dtype).reshape(-1, width)
    return VectorColumn(array)

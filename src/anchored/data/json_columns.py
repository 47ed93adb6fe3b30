"""JSON as columns: one object per line (JSON lines), or one array of objects."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import numpy as np

from anchored._errors import InputError
from anchored.data.column_values import column_of, joined
from anchored.data.columns import MAX_COLUMNS, Column, NumberColumn, TableChunk, TableInputs, check_names

__all__ = ["read_json_columns", "stream_json_columns"]

_BLOCK_ROWS = 8192
Record = tuple[int, dict[str, object]]


def read_json_columns(path: str | Path, *, drop: Collection[str] = ()) -> TableInputs:
    r"""Read JSON lines, or a JSON file that holds one array of objects.

    Args:
        path: The file, in UTF-8. Rows are counted as lines from 1; the objects of an array from 0.
        drop: Keys to leave out.

    Returns:
        One column per key, in the order in which keys first occur; a key that an object lacks is a missing cell.

    Raises:
        InputError: If a line is no JSON object; the line names its row.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "t.jsonl")
        >>> _ = path.write_text('{"age": 31, "town": "Seoul"}\n{"town": "Lima"}\n')
        >>> {name: column.cells() for name, column in read_json_columns(path).columns.items()}
        {'age': ['31', None], 'town': ['Seoul', 'Lima']}
    """
    path = _checked_path(path)
    rows: list[int] = []
    parts: dict[str, list[Column]] = {}
    with _readable(path):
        records = _records(path)
        while block := list(islice(records, _BLOCK_ROWS)):
            keys = dict.fromkeys(key for _, record in block for key in record)
            for key in keys:
                if key not in parts:
                    parts[key] = [NumberColumn(np.full(len(rows), np.nan))] if rows else []
            if len(parts) > MAX_COLUMNS:
                check_names(list(parts), str(path))
            for key, made in parts.items():
                if key not in drop:
                    made.append(_column(block, key, path))
            rows += [row for row, _ in block]
    if not rows:
        raise InputError(f"{path}: the file holds no objects; write one JSON object per line")
    names = dict(zip(parts, check_names(list(parts), str(path)), strict=True))
    TableInputs({name: NumberColumn(np.empty(0)) for name in parts}, source=str(path)).without(drop)
    columns = {names[key]: joined(made, f"{path}, column {key!r}") for key, made in parts.items() if key not in drop}
    return TableInputs(columns, rows=np.array(rows), source=str(path))


def stream_json_columns(path: str | Path, *, size: int) -> Iterator[TableChunk]:
    r"""Read JSON lines some rows at a time; the file is gone through twice, the first time for its keys.

    Args:
        path: The file, as :func:`read_json_columns` takes it.
        size: Rows per chunk.

    Returns:
        The chunks in order; every chunk has a column for every key of the file.

    Raises:
        InputError: If a line is no JSON object; the line names its row.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "t.jsonl")
        >>> _ = path.write_text('{"age": 31}\n{"town": "Lima"}\n')
        >>> [chunk.table.row(0) for chunk in stream_json_columns(path, size=1)]
        [{'age': '31', 'town': None}, {'age': None, 'town': 'Lima'}]
    """
    path = _checked_path(path)
    with _readable(path):
        keys = list(dict.fromkeys(key for _, record in _records(path) for key in record))
        if not keys:
            raise InputError(f"{path}: the file holds no objects; write one JSON object per line")
        names = check_names(keys, str(path))
        records = _records(path)
        while block := list(islice(records, size)):
            rows = np.array([row for row, _ in block])
            columns = {name: _column(block, key, path) for name, key in zip(names, keys, strict=True)}
            yield TableChunk(rows, TableInputs(columns, rows=rows, source=str(path)))


def _checked_path(path: str | Path) -> Path:
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: there is no such file" if not path.exists() else f"{path}: not a regular file")
    return path


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Within, a file that is no text or cannot be read is refused in one line."""
    try:
        yield
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None


def _column(block: list[Record], key: str, path: Path) -> Column:
    values = [record.get(key) for _, record in block]
    nested = next((place for place, value in enumerate(values) if isinstance(value, dict)), None)
    if nested is not None:
        raise InputError(
            f"{path}, row {block[nested][0]}, column {key!r}: an object within an object is no cell; "
            "flatten it, or drop the column"
        )
    return column_of(values, f"{path}, column {key!r}")


def _records(path: Path) -> Iterator[Record]:
    with path.open(encoding="utf-8-sig") as file:
        start = file.read(4096).lstrip()[:1]
        file.seek(0)
        if start == "[":
            whole = _parsed(file.read(), path, 1)
            if not isinstance(whole, list):
                raise InputError(f"{path}: a JSON table must be an array of objects")
            for row, value in enumerate(whole):
                yield row, _checked(value, path, row)
            return
        for row, line in enumerate(file, start=1):
            if line.strip():
                yield row, _checked(_parsed(line, path, row), path, row)


def _parsed(text: str, path: Path, row: int) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply or a number too long"
        raise InputError(f"{path}, row {row}: not JSON ({reason}); each line must be one JSON object") from None


def _checked(value: object, path: Path, row: int) -> dict[str, object]:
    if not isinstance(value, dict):
        raise InputError(
            f"{path}, row {row}: each row must be a JSON object with column names, got {str(value)[:40]!r}"
        )
    return value

"""Excel workbooks as columns, if openpyxl is installed."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from anchored._errors import InputError
from anchored._names import suggest
from anchored.data.column_values import column_of
from anchored.data.columns import NumberColumn, TableInputs, check_names

__all__ = ["read_excel_columns"]


def read_excel_columns(path: str | Path, *, sheet: str | None = None, drop: Collection[str] = ()) -> TableInputs:
    """Read one sheet of an ``.xlsx`` workbook.

    Args:
        path: The workbook. Rows are counted as Excel shows them, the heading being the first row that is not empty.
        sheet: Which sheet; by default the first, with a note if there are others.
        drop: Columns to leave out.

    Returns:
        The columns; formulas as the values that Excel kept for them.

    Raises:
        InputError: If openpyxl is missing, the file is no workbook, or the sheet is no table.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: there is no such file" if not path.exists() else f"{path}: not a regular file")
    try:
        import openpyxl
    except ImportError:
        raise InputError(
            f"{path}: reading Excel needs openpyxl; pip install 'anchored[excel]', or save it as CSV"
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns of styles and extensions that it leaves out
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
            try:
                names = list(book.sheetnames)
                if sheet is not None and sheet not in names:
                    raise InputError(f"{path}: there is no sheet {sheet!r}; {suggest(sheet, names)}")
                chosen = sheet or names[0]
                records = [(row, cells) for row, cells in enumerate(book[chosen].values, start=1) if _holds(cells)]
            finally:
                book.close()
    except InputError:
        raise
    except Exception as error:  # openpyxl raises whatever zipfile, xml and its own parts raise
        raise InputError(f"{path}: not a readable Excel workbook ({type(error).__name__}: {error})") from None
    where = f"{path}, sheet {chosen!r}"
    if not records:
        raise InputError(f"{where}: the sheet is empty; its first row must name the columns")
    notes = [f"sheet {chosen!r} was read; the others are {', '.join(map(repr, names[1:]))}"] if not sheet else []
    return _table(where, records, drop, notes if len(names) > 1 else [])


def _holds(cells: tuple[Any, ...]) -> bool:
    return any(cell is not None and str(cell).strip() for cell in cells)


def _table(
    where: str, records: list[tuple[int, tuple[Any, ...]]], drop: Collection[str], notes: list[str]
) -> TableInputs:
    heading = ["" if cell is None else str(cell) for cell in records[0][1]]
    width = max(place + 1 for place, name in enumerate(heading) if name.strip())
    for row, cells in records[1:]:
        if _holds(cells[width:]):
            raise InputError(f"{where}, row {row}: a cell right of the heading; name its column, or remove it")
    names = check_names(heading[:width], where)
    if len(records) == 1:
        raise InputError(f"{where}: the table has a heading but no rows")
    TableInputs({name: NumberColumn(np.empty(0)) for name in names}, source=where).without(drop)
    columns = {
        name: column_of([_value(cells, place) for _, cells in records[1:]], f"{where}, column {name!r}")
        for place, name in enumerate(names)
        if name not in drop
    }
    return TableInputs(columns, rows=np.array([row for row, _ in records[1:]]), source=where, notes=notes)


def _value(cells: tuple[Any, ...], place: int) -> object:
    value = cells[place] if place < len(cells) else None
    return None if isinstance(value, str) and not value.strip() else value

"""Mirror of src/anchored/data/excel_columns.py: one sheet as a table, typed cells, and what is no table."""

from datetime import datetime

import pytest

from anchored._errors import InputError
from anchored.data import read_excel_columns

openpyxl = pytest.importorskip("openpyxl")


def book(tmp_path, *sheets):
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets:
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(tmp_path / "t.xlsx")
    return tmp_path / "t.xlsx"


ROWS = [
    ["age", "town", "joined", "ok"],
    [31, "Seoul", datetime(2020, 1, 2), True],
    [None, " ", None, False],
    [None, None, None, None],
    [4.5, "Lima", datetime(2021, 3, 4, 5, 6), None],
]


def test_cells_keep_their_types_and_rows_their_numbers(tmp_path):
    table = read_excel_columns(book(tmp_path, ("data", ROWS)))
    assert {name: column.cells() for name, column in table.columns.items()} == {
        "age": ["31", None, "4.5"],
        "town": ["Seoul", None, "Lima"],
        "joined": ["2020-01-02 00:00:00", None, "2021-03-04 05:06:00"],
        "ok": ["true", "false", None],
    }
    assert table.rows.tolist() == [2, 3, 5]
    assert table.notes == ()


def test_the_first_sheet_is_read_and_the_others_are_named(tmp_path):
    path = book(tmp_path, ("data", ROWS), ("notes", [["x"], [1]]))
    assert read_excel_columns(path).notes == ("sheet 'data' was read; the others are 'notes'",)
    assert read_excel_columns(path, sheet="notes").names == ("x",)
    with pytest.raises(InputError, match="no sheet 'note'; did you mean 'notes'"):
        read_excel_columns(path, sheet="note")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "the sheet is empty"),
        ([["a", "b"]], "a heading but no rows"),
        ([["a"], [1, 2]], "row 2: a cell right of the heading"),
        ([["a", "a"], [1, 2]], "'a' for columns 1 and 2"),
    ],
)
def test_a_sheet_that_is_no_table_is_refused(tmp_path, rows, message):
    with pytest.raises(InputError, match=message):
        read_excel_columns(book(tmp_path, ("data", rows)))


def test_what_is_no_workbook_is_refused(tmp_path):
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(InputError, match="not a readable Excel workbook"):
        read_excel_columns(tmp_path / "t.xlsx")
    with pytest.raises(InputError, match="no such file"):
        read_excel_columns(tmp_path / "none.xlsx")

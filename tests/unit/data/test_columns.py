"""Mirror of src/anchored/data/columns.py: four forms of column, the table that holds them, and the names of columns."""

import numpy as np
import pytest
import torch

from anchored._errors import InputError
from anchored.data import Inputs, NumberColumn, TableInputs, TextColumn, TimeColumn, VectorColumn, text_of_number
from anchored.data.columns import MAX_COLUMNS, check_names

COLUMNS = {
    "n": NumberColumn(np.array([1.0, np.nan, 2.5])),
    "t": TextColumn(np.array([1, 0, -1], dtype=np.int32), ("a", "b")),
    "d": TimeColumn(np.array(["2020-02-29T12:30", "NaT", "1969-12-31"], dtype="datetime64[us]")),
    "v": VectorColumn(np.array([[1.0, 2.0, 3.0, 4.0, 5.0], [np.nan] * 5, [0.5] * 5])),
}
CELLS = {
    "n": ["1", None, "2.5"],
    "t": ["b", "a", None],
    "d": ["2020-02-29 12:30:00", None, "1969-12-31 00:00:00"],
    "v": ["[1, 2, 3, 4, … 5 numbers]", None, "[0.5, 0.5, 0.5, 0.5, … 5 numbers]"],
}


@pytest.mark.parametrize("name", COLUMNS)
def test_cells_missing_and_take_agree(name):
    column = COLUMNS[name]
    assert column.cells() == CELLS[name]
    assert column.missing.tolist() == [cell is None for cell in CELLS[name]]
    assert column.take(np.array([2, 0, 0])).cells() == [CELLS[name][i] for i in (2, 0, 0)]
    assert len(column) == 3


def test_used_keeps_the_cells_and_drops_the_levels_of_no_row():
    column = TextColumn(np.array([3, -1, 1, 3], dtype=np.int32), ("a", "b", "c", "d"))
    assert column.counts().tolist() == [0, 1, 0, 2]
    assert column.used().levels == ("b", "d")
    assert column.used().cells() == column.cells()
    assert column.used().used() is column.used() or column.used().used().levels == ("b", "d")


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (-3.0, "-3"), (1e15, "1000000000000000"), (1e22, "1e+22"), (0.1, "0.1")]
)
def test_numbers_as_people_write_them(value, text):
    assert text_of_number(value) == text
    assert float(text) == value


def test_a_table_is_inputs_that_wait_to_be_encoded():
    table = TableInputs(COLUMNS, rows=np.array([2, 3, 5]), source="t.csv")
    assert isinstance(table, Inputs)
    assert (len(table), table.shape, table.in_memory, table.names) == (3, (), True, ("n", "t", "d", "v"))
    with pytest.raises(InputError, match="must be encoded"):
        table.take(torch.tensor([0]))
    part = table.subset(torch.tensor([2, 0]))
    assert part.where(0, "n") == "t.csv, row 5, column 'n'"
    assert {name: column.cells() for name, column in part.columns.items()} == {
        name: [cells[2], cells[0]] for name, cells in CELLS.items()
    }
    assert table.row(1) == dict.fromkeys("nd", None) | {"t": "a", "v": None}


def test_without_names_what_is_not_there():
    table = TableInputs(COLUMNS)
    assert table.without(["n", "v"]).names == ("t", "d")
    with pytest.raises(InputError, match="there is no column 'tt' to drop; did you mean 't'"):
        table.without(["tt"])


def test_columns_of_two_lengths_are_refused():
    with pytest.raises(InputError, match="column 'b': 1 cells where the table has 2 rows"):
        TableInputs({"a": NumberColumn(np.zeros(2)), "b": NumberColumn(np.zeros(1))})


def test_names_are_stripped_filled_in_and_distinct():
    assert check_names([" a ", "", "b"], "t") == ["a", "Unnamed: 1", "b"]
    with pytest.raises(InputError, match="'a' for columns 1 and 3"):
        check_names(["a", "b", "a "], "t")
    with pytest.raises(InputError, match=r"at most 65,536 columns, got 65,537"):
        check_names([str(i) for i in range(MAX_COLUMNS + 1)], "t")
    with pytest.raises(InputError, match="no columns"):
        check_names([], "t")

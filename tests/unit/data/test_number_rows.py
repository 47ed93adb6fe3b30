"""Mirror of src/anchored/data/number_rows.py: plain numbers stay numbers, and each bad cell is named."""

import numpy as np
import pytest
import torch

from anchored._errors import InputError
from anchored.data import NumberColumn, TableInputs, TimeColumn, column_of
from anchored.data.number_rows import are_plain_numbers, check_numeric, number_rows, numbers_of

RNG = np.random.default_rng(1)


def table(**columns):
    made = {name: NumberColumn(np.asarray(values, dtype=np.float64)) for name, values in columns.items()}
    return TableInputs(made, source="t.csv", rows=np.arange(len(next(iter(made.values())))) + 2)


@pytest.mark.parametrize("x", [RNG.normal(size=50), RNG.lognormal(0, 3, 50), RNG.integers(0, 3, 50), np.ones(50)])
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_ordinary_numbers_of_any_scale_are_plain(x, scale):
    assert are_plain_numbers(table(x=np.asarray(x) * scale))


@pytest.mark.parametrize(
    "x",
    [
        RNG.normal(size=50) + 1e8,  # single precision would keep one digit
        np.append(RNG.normal(size=50), 1e30),
        np.arange(50.0),  # a count of the rows
        np.append(RNG.normal(size=50), np.nan),
        np.append(RNG.normal(size=50), np.inf),
        np.append(RNG.normal(size=50), 1e39),
    ],
)
def test_what_single_precision_cannot_hold_is_not_plain(x):
    assert not are_plain_numbers(table(x=x))


def test_without_care_only_gaps_and_infinities_count():
    assert are_plain_numbers(table(x=RNG.normal(size=50) + 1e8), careful=False)
    assert not are_plain_numbers(table(x=[1.0, np.nan]), careful=False)
    assert not are_plain_numbers(TableInputs({"x": column_of(["a", "b"], "x")}), careful=False)


def test_rows_agree_with_a_loop_over_cells():
    cells = [["1", "2"], ["x", "3"], ["4", ""], ["5e39", "6"], ["7", "1,5"], ["8", "9"]]
    columns = {name: column_of([row[i] or None for row in cells], name) for i, name in enumerate("ab")}
    rows, errors = number_rows(TableInputs(columns, source="t.csv", rows=np.arange(6) + 2), ["b", "a"])
    assert rows.dtype == torch.float32
    assert rows.tolist() == [[2.0, 1.0], [9.0, 8.0]]
    assert {place: text.partition(": ")[2] for place, text in errors.items()} == {
        1: "features must be numbers, got 'x'; encode text as numbers, or drop the column",
        2: "the cell is empty; fill it or drop the row",
        3: "features must be finite in single precision, got 5e+39; fill or drop them",
        4: "features must be numbers, got '1,5'; write decimals with a point",
    }
    assert errors[4].startswith("t.csv, row 6, column 'b': ")


def test_a_column_without_any_number_is_refused_at_once():
    times = TimeColumn(np.array(["2024-01-01"], dtype="datetime64[us]"))
    for column in (column_of(["red"], "x"), times):
        with pytest.raises(InputError, match=r"^t.csv, column 'x': features must be numbers, got '(red|2024.*)'"):
            check_numeric(TableInputs({"x": column}, source="t.csv"), ["x"])
        assert numbers_of(column) is None
    check_numeric(table(x=[np.nan, np.nan]), ["x"])

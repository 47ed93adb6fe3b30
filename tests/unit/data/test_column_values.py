"""Mirror of src/anchored/data/column_values.py: Python values become the form that fits all of them."""

import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pytest

from anchored._errors import InputError
from anchored.data import NumberColumn, TextColumn, TimeColumn, VectorColumn, column_of, text_column
from anchored.data.column_values import joined


@pytest.mark.parametrize(
    ("values", "form", "cells"),
    [
        ([1, 2.5, None], NumberColumn, ["1", "2.5", None]),
        ([Decimal("1.5"), np.float32(2), np.int64(3)], NumberColumn, ["1.5", "2", "3"]),
        ([math.nan, 1], NumberColumn, [None, "1"]),
        ([None, None], NumberColumn, [None, None]),
        ([True, False, None], TextColumn, ["true", "false", None]),
        ([True, 1], TextColumn, ["true", "1"]),
        (["a", " b ", "", None, math.nan], TextColumn, ["a", "b", None, None, None]),
        ([1, "x", 2.0], TextColumn, ["1", "x", "2"]),
        ([10**400, 1], TextColumn, [str(10**400), "1"]),
        ([date(2020, 1, 2), None], TimeColumn, ["2020-01-02 00:00:00", None]),
        (
            [datetime(2020, 1, 2, 3, tzinfo=timezone(timedelta(hours=2))), datetime(2020, 1, 2, tzinfo=UTC)],
            TimeColumn,
            ["2020-01-02 01:00:00", "2020-01-02 00:00:00"],
        ),
        ([[1, 2], (3, 4), None], VectorColumn, ["[1, 2]", "[3, 4]", None]),
        ([date(2020, 1, 2), "soon"], TextColumn, ["2020-01-02", "soon"]),
    ],
)
def test_the_form_that_fits_all(values, form, cells):
    column = column_of(values, "t")
    assert isinstance(column, form)
    assert column.cells() == cells


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1, 2], [1, 2], [1]], "2 numbers in most cells and 1 in row 2"),
        ([["a"], ["b"]], "must hold numbers only"),
        ([[[1, 2]], [[3, 4]]], "flat lists of numbers"),
    ],
)
def test_lists_that_are_no_vectors_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        column_of(values, "t, column 'v'")


def test_a_text_is_kept_once():
    column = text_column(["a", "b", "a", "a "])
    assert column.levels == ("a", "b")
    assert column.codes.tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize(
    "parts",
    [
        [[1, 2], [3.5]],
        [[None], [1], [None, 2]],
        [["a", None], ["b", "a"]],
        [[1], ["a"], [2.5]],
        [[None, None], [[1, 2]], [None]],
        [[date(2020, 1, 1)], [None]],
        [[True], [False, None]],
        [[True], [1]],
    ],
)
def test_parts_read_alone_and_joined_are_the_same_as_read_together(parts):
    whole = column_of([value for part in parts for value in part], "t")
    both = joined([column_of(part, "t") for part in parts], "t")
    assert both.cells() == whole.cells()
    assert type(both) is type(whole)


def test_vectors_of_two_lengths_are_not_joined():
    with pytest.raises(InputError, match="got 1 and 2 numbers"):
        joined([column_of([[1]], "t"), column_of([[1, 2]], "t")], "t")

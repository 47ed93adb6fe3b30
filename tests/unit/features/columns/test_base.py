"""Mirror of src/anchored/features/columns/_base.py: missing cells, words for them, and texts of any column."""

import numpy as np
import pytest

from anchored._errors import InputError
from anchored.data import NumberColumn, TextColumn, TimeColumn, VectorColumn, column_of
from anchored.features.columns._base import (
    as_texts,
    levels_to_rows,
    refuse_unreadable,
    shown,
    with_indicator,
    without_missing_words,
)


def test_the_indicator_has_mean_zero_and_is_there_only_if_training_had_gaps():
    missing = np.array([True, False, False, True])
    features = np.ones((4, 2), dtype=np.float32)
    assert with_indicator(features, missing, 0.0) is features
    marked = with_indicator(features, missing, 0.5)
    assert marked.shape == (4, 3)
    assert marked[:, 2].tolist() == [1.0, -1.0, -1.0, 1.0]


def test_words_for_missing_become_missing():
    column = column_of(["a", "NA", None, "null", "nan", "none", "a"], "t")
    assert without_missing_words(column).cells() == ["a", None, None, None, None, "none", "a"]
    assert without_missing_words(column).levels == ("a", "none")


@pytest.mark.parametrize(
    "column",
    [
        NumberColumn(np.array([3.0, np.nan, 1.5, 3.0])),
        TextColumn(np.array([1, -1, 0, 1], dtype=np.int32), ("x", "y", "unused")),
        TimeColumn(np.array(["2020-01-01", "NaT", "2021-01-01", "2020-01-01"], dtype="datetime64[us]")),
    ],
)
def test_texts_of_a_column_are_its_cells_each_kept_once(column):
    texts = as_texts(column)
    assert texts.cells() == column.cells()
    assert len(texts.levels) == len(set(texts.levels)) == 2


def test_lists_are_no_texts():
    with pytest.raises(InputError, match="lists of numbers cannot be read as texts"):
        as_texts(VectorColumn(np.zeros((2, 2))))


def test_the_first_unreadable_row_is_named():
    column = TextColumn(np.array([-1, 0, 1, 1], dtype=np.int32), ("good", "b" * 60))
    refuse_unreadable(column, np.array([False, False]), str, "rule", "way out")
    with pytest.raises(InputError, match=r"^row 2: rule, got 'b{39}…' \(2 such cells in all\); way out$"):
        refuse_unreadable(column, np.array([False, True]), lambda row: f"row {row}", "rule", "way out")


def test_levels_to_rows_gives_zeros_to_missing_cells():
    table = np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32)
    assert levels_to_rows(table, [1, -1, 0]).tolist() == [[3.0, 4.0], [0.0, 0.0], [1.0, 2.0]]


def test_long_texts_are_cut_when_shown():
    assert shown("short") == "'short'"
    assert len(shown("x" * 100)) == 42

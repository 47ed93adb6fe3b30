"""Mirror of src/anchored/features/columns/boolean.py: words for yes and no in any case, gaps, refusals."""

import numpy as np
import pytest

from anchored._errors import InputError
from anchored.data import NumberColumn, column_of
from anchored.features.columns import BooleanEncoder
from anchored.features.columns.boolean import is_boolean


@pytest.mark.parametrize("levels", [("yes", "no"), ("TRUE", "False"), ("0", "1"), ("Ja", "Nein"), ("Y", "n")])
def test_pairs_of_words(levels):
    assert is_boolean(levels)


@pytest.mark.parametrize("levels", [("yes", "false"), ("yes",), ("yes", "no", "maybe"), ("m", "f")])
def test_other_words(levels):
    assert not is_boolean(levels)


def test_the_feature_has_mean_zero_and_gaps_are_marked():
    column = column_of(["yes", "No", "YES", None, "yes"], "t")
    encoder = BooleanEncoder.fit(column)
    found = encoder.transform(column, where=str)
    assert found[:, 0].tolist() == [0.5, -1.5, 0.5, 0.0, 0.5]
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-7)
    assert encoder.names == ("yes", "missing")


def test_words_and_numbers_mean_the_same():
    encoder = BooleanEncoder.fit(column_of([True, False], "t"))
    assert encoder.transform(NumberColumn(np.array([1.0, 0.0])), where=str).tolist() == [[1.0], [-1.0]]


@pytest.mark.parametrize("cell", ["maybe", 2])
def test_another_word_is_refused_with_its_place(cell):
    encoder = BooleanEncoder.fit(column_of(["yes", "no"], "t"))
    with pytest.raises(InputError, match=r"^row 0: a cell must be yes or no, as in training, got"):
        encoder.transform(column_of([cell], "t"), where=lambda row: f"row {row}")

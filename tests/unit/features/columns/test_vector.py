"""Mirror of src/anchored/features/columns/vector.py: distances keep their ratios; other lengths are refused."""

import numpy as np
import pytest
import torch
from scipy.spatial.distance import pdist

from anchored._errors import InputError
from anchored.data import NumberColumn, VectorColumn, column_of
from anchored.features.columns import VectorEncoder
from anchored.features.columns.vector import vectors_of_texts

VALUES = np.random.default_rng(0).normal(3.0, [1.0, 0.1, 5.0], size=(50, 3))


def test_distances_keep_their_ratios_and_the_mean_variance_is_one():
    found = VectorEncoder.fit(VectorColumn(VALUES)).transform(VectorColumn(VALUES), where=str)
    ratio = pdist(found) / pdist(VALUES)
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-4)
    assert found.var(axis=0).mean() == pytest.approx(1.0, rel=1e-4)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-5)


def test_missing_and_infinite_lists_are_gaps():
    values = VALUES.copy()
    values[0], values[1, 2] = np.nan, np.inf
    found = VectorEncoder.fit(VectorColumn(values)).transform(VectorColumn(values), where=str)
    assert np.isfinite(found).all()
    assert (found[:2, :3] == 0).all()
    assert found[0, 3] == pytest.approx(1.92)


def test_texts_are_read_as_lists():
    for text in ("[1, 2.5, -3e1]", "[1 2.5 -30]"):
        assert vectors_of_texts(column_of([text, None], "t")).values[0].tolist() == [1.0, 2.5, -30.0]
    for texts in (["[1, 2]", "[1]"], ["[a]"], ["1, 2"], ["[]"], ['[["x"]]']):
        assert vectors_of_texts(column_of(texts, "t")) is None


def test_other_lengths_and_other_cells_are_refused():
    encoder = VectorEncoder.fit(VectorColumn(VALUES))
    with pytest.raises(InputError, match="learnt lists of 3 numbers, got 2"):
        encoder.transform(VectorColumn(np.zeros((1, 2))), where=str)
    for column in (column_of(["word"], "t"), NumberColumn(np.array([1.0]))):
        with pytest.raises(InputError, match="a list of 3 numbers"):
            encoder.transform(column, where=str)
    assert (encoder.transform(NumberColumn(np.array([np.nan])), where=str) == 0).all()


def test_the_state_makes_the_same_features_and_is_checked():
    encoder = VectorEncoder.fit(VectorColumn(VALUES))
    about = encoder.model_dump(mode="json")
    again = VectorEncoder.restore(about, encoder.tensors())
    np.testing.assert_array_equal(
        again.transform(VectorColumn(VALUES), where=str), encoder.transform(VectorColumn(VALUES), where=str)
    )
    for tensors in ({}, {"mean": torch.zeros(2)}, {"mean": torch.full((3,), torch.inf)}):
        with pytest.raises(InputError, match="damaged"):
            VectorEncoder.restore(about, tensors)

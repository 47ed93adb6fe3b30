"""Mirror of src/anchored/features/columns/category.py: one-hot against scikit-learn, rare, new and many values."""

import numpy as np
import pytest
import torch
from sklearn.preprocessing import OneHotEncoder

from anchored._errors import InputError
from anchored.data import column_of
from anchored.features.columns import CategoryEncoder


def encode(values, new=None):
    encoder = CategoryEncoder.fit(column_of(values, "t"))
    return encoder, encoder.transform(column_of(values if new is None else new, "t"), where=str)


def test_agrees_with_scikit_learn_up_to_the_mean():
    values = np.random.default_rng(0).choice(["a", "b", "c"], 200, p=[0.6, 0.3, 0.1]).tolist()
    encoder, found = encode(values)
    reference = OneHotEncoder(categories=[encoder.values], sparse_output=False).fit_transform(np.array(values)[:, None])
    np.testing.assert_allclose(found, 2 * (reference - reference.mean(axis=0)), atol=1e-6)


def test_rare_values_share_a_feature_with_new_ones():
    values = ["a"] * 50 + ["b"] * 40 + ["c", "d"]
    encoder, found = encode(values, ["a", "c", "new", None])
    assert encoder.names == ("a", "b", "other values")
    assert (found[1] == found[2]).all()
    assert found[3].tolist() == [0.0, 0.0, 0.0]


def test_a_new_value_is_the_average_row_if_training_had_no_rare_one():
    assert encode(["a", "b"] * 20, ["c"])[1].tolist() == [[0.0, 0.0]]


def test_missing_cells_are_marked_and_all_means_are_zero():
    values = ["a", None, "b", "NA", "a"] * 20
    encoder, found = encode(values)
    assert encoder.names == ("a", "b", "missing")
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-6)
    assert (found[1, :2] == 0).all()


def many(n=600, k=80):
    rng = np.random.default_rng(0)
    return [f"{'north' if i % 2 else 'south'} street {i}" for i in rng.integers(0, k, n)]


def test_many_values_are_also_known_by_count_and_spelling():
    encoder, found = encode(many())
    assert len(encoder.values) == 30
    assert encoder.names[31] == "count"
    assert found.shape == (600, encoder.dim)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-4)
    new = encoder.transform(column_of(["north street 999", "south street 998", "north street 997"], "t"), where=str)
    spelling = new[:, 32:]
    assert np.linalg.norm(spelling[0] - spelling[2]) < np.linalg.norm(spelling[0] - spelling[1])


def test_numbers_can_be_categories():
    encoder, found = encode([1, 2, 2, 1.0], ["1", "2"])
    assert encoder.values == ["1", "2"]
    assert found.tolist() == [[1.0, -1.0], [-1.0, 1.0]]


def test_the_state_makes_the_same_features_and_is_checked():
    encoder, found = encode(many())
    about, tensors = encoder.model_dump(mode="json"), encoder.tensors()
    again = CategoryEncoder.restore(about, tensors)
    np.testing.assert_array_equal(again.transform(column_of(many(), "t"), where=str), found)
    with pytest.raises(ValueError, match="one share"):
        CategoryEncoder.restore(about | {"shares": [1.0]}, tensors)
    with pytest.raises(InputError, match="damaged"):
        CategoryEncoder.restore(about, {})
    small = encode(["a", "b"])[0].model_dump(mode="json")
    with pytest.raises(InputError, match="does not need"):
        CategoryEncoder.restore(small, {"mean": torch.zeros(1)})

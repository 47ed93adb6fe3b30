"""Mirror of src/anchored/data/digits.py: the same images as scikit-learn's, in a split without a seed."""

import numpy as np
import pytest
import torch
from sklearn import datasets

from anchored.data import digits, load_digits


def test_pixels_and_labels_are_those_of_scikit_learn():
    file = datasets.load_digits()
    for part in (load_digits().train, load_digits().test):
        rows = part.ids.rows.numpy()
        assert np.array_equal(part.inputs.tensor[:, 0].numpy() / digits.PIXEL_STEP, file.images[rows])
        assert np.array_equal(part.labels.numpy(), file.target[rows])


def test_the_two_parts_are_disjoint_and_complete_and_hold_a_fifth_of_each_class():
    split = load_digits()
    rows = torch.cat([split.train.ids.rows, split.test.ids.rows])
    assert torch.equal(rows.sort().values, torch.arange(1797))
    total = split.train.counts + split.test.counts
    assert ((split.test.counts - total / 5).abs() <= 1).all()


def test_the_bundle_is_used_where_the_file_is_not_found(monkeypatch):
    expected = load_digits().train
    monkeypatch.setattr(digits, "find_spec", lambda _name: None)
    assert torch.equal(load_digits().train.inputs.tensor, expected.inputs.tensor)


@pytest.mark.parametrize("part", ["train", "test"])
def test_the_split_is_always_the_same(part):
    assert torch.equal(getattr(load_digits(), part).ids.rows, getattr(load_digits(), part).ids.rows)

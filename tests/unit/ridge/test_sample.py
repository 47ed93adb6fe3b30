"""Mirror of src/anchored/ridge/sample.py: bounded, indifferent to order and chunks, copies joined."""

import numpy as np

from anchored.ridge import Sample, as_targets
from anchored.ridge.copies import row_keys
from anchored.ridge.sample import sample_size


def sample_of(X, y, c=None, size=1000):
    return Sample.of(row_keys(X), X, as_targets(y, 4), c, size)


def assert_equal(one, other):
    np.testing.assert_array_equal(one.keys, other.keys)
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_allclose(one.weights, other.weights)
    np.testing.assert_allclose(one.targets.toarray(), other.targets.toarray())


def test_the_sample_of_the_whole_is_that_of_its_parts_in_any_order(data):
    X, y, c = data
    for size in (1000, 17):
        parts = [sample_of(X[i::3], y[i::3], c[i::3], size) for i in range(3)]
        whole = sample_of(X, y, c, size)
        assert len(whole.keys) == min(size, 80)
        assert_equal(parts[0].merge(parts[1]).merge(parts[2]), whole)
        assert_equal(parts[2].merge(parts[0].merge(parts[1])), whole)


def test_copies_become_one_row_with_their_weight_and_mean_target(data):
    X, y, _ = data
    doubled = sample_of(np.concatenate([X, X[:1]]), np.append(y, (y[0] + 1) % 4))
    place = int(np.flatnonzero((doubled.rows == X[0]).all(axis=1))[0])
    assert len(doubled.keys) == 80
    assert doubled.weights[place] == 2
    assert doubled.targets[place].toarray()[0, y[0]] == 0.5


def test_copies_in_different_parts_join_too(data):
    X, y, c = data
    assert_equal(sample_of(X, y, c, 17).merge(sample_of(X, y, c, 17)), sample_of(X, y, 2 * c, 17))


def test_many_classes_get_fewer_rows():
    assert sample_size(2) == 10_000
    assert sample_size(1_000) == 5_000
    assert sample_size(10**6) == 2_000

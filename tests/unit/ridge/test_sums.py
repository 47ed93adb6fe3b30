"""Mirror of src/anchored/ridge/sums.py: against plain formulas, merged, subtracted, far from the origin, refused."""

import itertools

import numpy as np
import pytest

from anchored._errors import InputError
from anchored.ridge import Sums, as_targets
from anchored.ridge.sums import entries_of


def slow(X, P, c):
    """One sample at a time."""
    mean = sum(ci * x for ci, x in zip(c, X, strict=True)) / sum(c)
    scatter = sum(ci * np.outer(x - mean, x - mean) for ci, x in zip(c, X, strict=True))
    class_sums = sum(ci * np.outer(p, x - mean) for ci, p, x in zip(c, P, X, strict=True))
    return mean, scatter, sum(ci * p for ci, p in zip(c, P, strict=True)), class_sums


def parts(sums):
    return sums.mean, sums.scatter, sums.class_weights, sums.class_sums


def assert_alike(one, other, rtol=1e-9):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max())


def test_sums_are_those_of_the_slow_loop(data):
    X, y, c = data
    assert_alike(parts(Sums.of(X, as_targets(y, 4), c)), slow(X, np.eye(4)[y], c))
    assert_alike(parts(Sums.of(X, as_targets(y, 4))), slow(X, np.eye(4)[y], np.ones(len(y))))


def test_soft_targets_are_summed_by_their_probabilities(data):
    X, y, c = data
    P = np.random.default_rng(1).dirichlet(np.ones(4), size=len(y))
    assert_alike(parts(Sums.of(X, as_targets(P, 4), c)), slow(X, P, c))


def test_merging_equals_summing_all_and_subtracting_undoes_it(data):
    X, y, c = data
    P = as_targets(y, 4)
    cuts = [0, 1, 30, 80]
    pieces = [Sums.of(X[a:b], P[a:b], c[a:b]) for a, b in itertools.pairwise(cuts)]
    merged = pieces[0].merge(pieces[1]).merge(pieces[2])
    assert merged.rows == 80
    assert_alike(parts(merged), parts(Sums.of(X, P, c)))
    assert_alike(parts(merged.subtract(pieces[1])), parts(pieces[0].merge(pieces[2])), rtol=1e-7)


def test_a_large_offset_costs_no_digits(data):
    _, y, _ = data
    small = np.random.default_rng(2).integers(-8, 9, size=(80, 3)) / 64.0  # exact in binary beside 1e8
    P = as_targets(y, 4)
    far = Sums.of(small[:40] + 1e8, P[:40]).merge(Sums.of(small[40:] + 1e8, P[40:]))
    near = Sums.of(small, P)
    np.testing.assert_allclose(far.scatter, near.scatter, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(far.class_sums, near.class_sums, rtol=1e-6, atol=1e-5)


def test_class_sums_add_up_to_zero(data):
    X, y, c = data
    sums = Sums.of(X, as_targets(y, 4), c)
    np.testing.assert_allclose(sums.class_sums.sum(axis=0) / np.abs(sums.class_sums).max(axis=0), 0, atol=1e-12)


def test_other_widths_and_class_lists_are_refused(data):
    X, y, _ = data
    sums = Sums.of(X, as_targets(y, 4))
    with pytest.raises(InputError, match="cannot join data of 6 features with data of 5; give the same columns"):
        sums.merge(Sums.of(X[:, :5], as_targets(y, 4)))
    with pytest.raises(InputError, match="cannot join data of 4 classes with data of 5; give the same list"):
        sums.merge(Sums.of(X, as_targets(y, 5)))
    with pytest.raises(InputError, match="cannot take 80 rows from 80: some must be left"):
        sums.subtract(sums)


def test_numbers_without_squares_are_refused():
    with pytest.raises(InputError, match="squares exceed the range of float64; divide its columns"):
        Sums.of(np.array([[1e200], [-1e200]]), as_targets(np.array([0, 1]), 2))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.array([0, 3]), r"labels must be in 0..2, got values from 0 to 3"),
        (np.array([0.0, 1.0]), "labels must be .n,. class numbers"),
        (np.array([[0.5, 0.5]]), "must have k=3 entries, got 2"),
        (np.array([[0.5, 0.5, 0.5]]), "must be non-negative and sum to 1"),
        (np.array([[1.5, -0.5, 0.0]]), "must be non-negative and sum to 1"),
        (np.array([[np.nan, 0.5, 0.5]]), "must be non-negative and sum to 1"),
    ],
)
def test_refusals(labels, message):
    with pytest.raises(InputError, match=message):
        as_targets(labels, 3)


def test_entries_are_those_of_the_targets_row_by_row():
    for labels in (np.array([2, 0, 1]), np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])):
        targets = as_targets(labels, 3)
        rows, classes, shares = entries_of(targets)
        written = np.zeros(targets.shape)
        written[rows, classes] = shares
        np.testing.assert_array_equal(written, targets.toarray())

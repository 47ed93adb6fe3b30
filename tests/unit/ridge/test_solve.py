"""Mirror of src/anchored/ridge/solve.py: by refitting without a sample, by scikit-learn, by the other side."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge as Reference
from sklearn.linear_model import RidgeClassifierCV

from anchored.prototypes import simplex
from anchored.ridge import Sums, as_targets, spectrum_of_rows, spectrum_of_sums


def standardized(X, c):
    mean = np.average(X, axis=0, weights=c)
    return (X - mean) / np.sqrt(np.average((X - mean) ** 2, axis=0, weights=c))


def both_sides(X, P, c):
    return spectrum_of_sums(Sums.of(X, P, c)), spectrum_of_rows(X, P, c)


@pytest.mark.parametrize(("n", "d", "k"), [(40, 6, 4), (30, 50, 3), (25, 4, 2)])
@pytest.mark.parametrize("alpha", [1e-2, 1.0, 300.0])
def test_leaving_out_equals_refitting_without_the_sample(builder, n, d, k, alpha):
    X, y, c = builder(n, d, k)
    Z, Y = standardized(X, c), np.eye(k)[y]
    slow = np.empty((n, k))
    for i in range(n):
        others = np.arange(n) != i
        slow[i] = Reference(alpha).fit(Z[others], Y[others], c[others]).predict(Z[i : i + 1])[0]
    for spectrum in both_sides(X, as_targets(y, k), c):
        found = spectrum.leave_one_out(spectrum.rotate(X), as_targets(y, k), c, alpha)
        np.testing.assert_allclose(found, k / (k - 1) * (slow - 1 / k), rtol=1e-6, atol=1e-7)


def test_it_is_ridge_regression_on_the_anchors(data):
    X, y, c = data
    W = simplex(4, 3, dtype=torch.float64).numpy()
    Z = standardized(X, c)
    model = Reference(7.0).fit(Z, W[y], c)
    slope, offset = spectrum_of_sums(Sums.of(X, as_targets(y, 4), c)).weights_of(7.0)
    mean = np.average(X, axis=0, weights=c)
    np.testing.assert_allclose((X - mean) @ slope + offset, model.predict(Z) @ W.T, atol=1e-9)


def test_the_errors_are_those_of_scikit_learns_leave_one_out(data):
    X, y, _ = data
    Z = standardized(X, np.ones(len(y)))
    alphas = [0.1, 1.0, 10.0]
    # Of two classes, because its classifier codes each class as -1 and 1 by itself.
    y = y % 2
    reference = RidgeClassifierCV(alphas, store_cv_results=True).fit(Z, y)
    P = as_targets(y, 2)
    spectrum = spectrum_of_sums(Sums.of(X, P))
    for number, alpha in enumerate(alphas):
        found = spectrum.leave_one_out(spectrum.rotate(X), P, None, alpha)[:, 1]
        squares = (found - (2 * y - 1)) ** 2
        np.testing.assert_allclose(squares, reference.cv_results_[:, 0, number], rtol=1e-6)


def test_soft_targets_may_be_left_out_too(data):
    X, _, c = data
    P = np.random.default_rng(1).dirichlet(np.ones(4), size=len(X))
    spectrum = spectrum_of_sums(Sums.of(X, as_targets(P, 4), c))
    found = spectrum.leave_one_out(spectrum.rotate(X), as_targets(P, 4), c, 2.0)
    Z = standardized(X, c)
    slow = Reference(2.0).fit(Z[1:], P[1:], c[1:]).predict(Z[:1])[0]
    np.testing.assert_allclose(found[0], 4 / 3 * (slow - 1 / 4), rtol=1e-7)


def test_constant_columns_are_left_out_and_named(data):
    X, y, c = data
    P = as_targets(y, 4)
    padded = np.insert(X, [0, 3], [[7.0, 1e8 + 1 / 3]], axis=1)
    for plain, with_constants in zip(both_sides(X, P, c), both_sides(padded, P, c), strict=True):
        assert with_constants.constant == (0, 4)
        assert not with_constants.rotation[[0, 4]].any()
        np.testing.assert_allclose(with_constants.values[-3:], plain.values[-3:], rtol=1e-9)


def test_a_column_far_from_the_origin_keeps_its_signal(data):
    _, y, _ = data
    near = np.random.default_rng(0).integers(-64, 64, size=(80, 3)) / 64.0 + y[:, None]
    P = as_targets(y, 4)
    for one, other in zip(both_sides(near, P, None), both_sides(near + 1e8, P, None), strict=True):
        np.testing.assert_allclose(
            one.leave_one_out(one.rotate(near), P, None, 1.0),
            other.leave_one_out(other.rotate(near + 1e8), P, None, 1.0),
            atol=1e-6,
        )


def test_a_sample_that_alone_decides_has_a_finite_answer():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1e9, 0.5]])
    P = as_targets(np.array([0, 1, 1]), 2)
    spectrum = spectrum_of_sums(Sums.of(X, P))
    assert np.isfinite(spectrum.leave_one_out(spectrum.rotate(X), P, None, 1e-300)).all()


def test_data_without_any_variation_answers_the_shares():
    X, P = np.ones((4, 2)), as_targets(np.array([0, 0, 0, 1]), 2)
    for spectrum in both_sides(X, P, None):
        assert spectrum.unit == 1.0
        slope, offset = spectrum.weights_of(1.0)
        assert not slope.any()
        np.testing.assert_allclose(offset, [0.5, -0.5])

"""Mirror of src/anchored/methods/axes.py: scikit-learn's scaler and principal components."""

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from anchored.methods import axes


def rows(n=200, d=5):
    g = torch.Generator().manual_seed(0)
    return torch.randn(n, d, generator=g, dtype=torch.float64) @ torch.randn(d, d, generator=g, dtype=torch.float64)


@pytest.mark.parametrize("block", [7, 2**24])
def test_standardised_as_by_scikit_learn(monkeypatch, block):
    monkeypatch.setattr(axes, "_BLOCK_NUMBERS", block)
    X = rows() + 1e8
    found = axes.standard_of(X).of(X)
    np.testing.assert_allclose(found.numpy(), StandardScaler().fit_transform((X - 1e8).numpy()), atol=1e-5)


def test_a_constant_column_becomes_nothing():
    X = rows()
    X[:, 2] = 0.1
    assert not bool(axes.standard_of(X).of(X + 1.0)[:, 2].any())


def test_axes_are_principal_components():
    X = axes.standard_of(rows()).of(rows())
    variances, turn = axes.principal_axes(X)
    reference = PCA().fit(X.numpy())
    np.testing.assert_allclose(variances.numpy()[::-1], reference.explained_variance_ * 199 / 200, rtol=1e-4)
    np.testing.assert_allclose(abs((reference.components_ @ turn.numpy())[::-1]), np.eye(5), atol=1e-3)


def test_only_the_largest_are_kept(monkeypatch):
    monkeypatch.setattr(axes, "AXES", 2)
    X = axes.standard_of(rows()).of(rows())
    assert axes.principal_axes(X)[1].shape == (5, 2)

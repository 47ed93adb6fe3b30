"""Small data for the closed form: correlated columns of different sizes, classes that overlap."""

import numpy as np
import pytest


def make(n=80, d=6, k=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    y[:k] = np.arange(k)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=(k, d))[y] * 1.5
    return X * 10.0 ** rng.integers(-3, 4, size=d) + rng.normal(size=d), y, rng.uniform(0.2, 3.0, size=n)


@pytest.fixture
def data():
    """Features, labels and weights of 80 samples of four classes."""
    return make()


@pytest.fixture
def builder():
    return make

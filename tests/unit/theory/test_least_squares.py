"""Mirror of src/anchored/theory/least_squares.py: against vectors, means and expectations; limits and refusals."""

import numpy as np
import pytest
import torch

from anchored._errors import InputError
from anchored.prototypes import simplex
from anchored.theory import anchored_squared, left_out, noise_shrinkage


def test_the_squared_loss_is_the_distance():
    w = simplex(5, 4, dtype=torch.float64)[2]
    for seed in range(5):
        z = 2 * torch.randn(4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        assert anchored_squared(float(w @ z), float(z.norm())) == pytest.approx(float((z - w).square().sum()) / 2)


@pytest.mark.parametrize(("k", "eta"), [(2, 0.3), (4, 0.7), (100, 0.5)])
def test_the_shrinkage_is_the_length_of_the_mean_anchor(k, eta):
    w = simplex(k, k - 1, dtype=torch.float64)
    mean = (1 - eta) * w[0] + eta / (k - 1) * w[1:].sum(dim=0)
    assert noise_shrinkage(k, eta) == pytest.approx(float(mean @ w[0]))
    assert float(mean.norm()) == pytest.approx(noise_shrinkage(k, eta))


def test_no_noise_shrinks_nothing_and_the_limit_shrinks_all():
    assert noise_shrinkage(10, 0.0) == 1.0
    assert noise_shrinkage(10, 0.9 - 1e-12) == pytest.approx(0.0, abs=1e-9)


def test_leaving_out_of_a_mean():
    values = np.random.default_rng(0).normal(size=9)
    assert left_out(values.mean(), values[0], 1 / 9) == pytest.approx(values[1:].mean())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: noise_shrinkage(10, 0.9), r"eta must lie in \[0, \(k-1\)/k\)"),
        (lambda: noise_shrinkage(1, 0.1), "k must be at least 2"),
        (lambda: left_out(1.0, 1.0, 1.0), r"leverage must lie in \[0, 1\)"),
        (lambda: anchored_squared(2.0, 1.0), "logit must lie in"),
        (lambda: anchored_squared(0.0, -1.0), "norm must lie in"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError, match=message):
        call()

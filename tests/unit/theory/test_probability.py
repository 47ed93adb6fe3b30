"""Mirror of src/anchored/theory/probability.py: the published table, the ends of the interval, extremes, refusals."""

import math

import pytest
import torch
import torch.nn.functional as F

from anchored._errors import InputError
from anchored.prototypes import simplex
from anchored.theory import loss_floor, max_probability, noise_aware_scale, probability_floor

TABLE = {  # eta: (largest p at k=10, at k=100), with the noise-aware scale
    0.0: (0.9664, 0.6119), 0.1: (0.4145, 0.0516), 0.2: (0.2524, 0.0270), 0.3: (0.1972, 0.0204),
    0.4: (0.1708, 0.0174), 0.6: (0.1456, 0.0147), 0.8: (0.1335, 0.0134),
}  # fmt: skip


@pytest.mark.parametrize("eta", TABLE)
def test_reproduces_the_table_of_largest_probabilities(eta):
    scale = noise_aware_scale(eta)
    assert (max_probability(10, scale), max_probability(100, scale)) == pytest.approx(TABLE[eta], abs=5e-5)


@pytest.mark.parametrize(("k", "expected"), [(10, 0.99987), (100, 0.9960)])
def test_scale_ten_lets_active_passive_losses_saturate(k, expected):
    assert max_probability(k, 10.0) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("scale", [0.3, 1.0, 12.0])
def test_the_feature_on_its_prototype_attains_the_largest_probability(k, scale):
    w = simplex(k, k, dtype=torch.float64)
    p = (scale * w @ w.T).softmax(dim=1).diagonal()
    torch.testing.assert_close(p, torch.full_like(p, max_probability(k, scale)))


@pytest.mark.parametrize("alpha", [-3.0, 0.0, 2.0])
def test_loss_floor_is_the_margin_loss_on_the_prototype(alpha):
    w = simplex(6, 8, dtype=torch.float64)
    logits = 4 * w @ w.T + alpha * torch.eye(6, dtype=torch.float64)
    assert loss_floor(6, 4.0, alpha) == pytest.approx(F.cross_entropy(logits, torch.arange(6)).item(), rel=1e-12)


def test_the_floor_holds_where_the_printed_one_fails():
    k, scale = 10, 10.0
    w = simplex(k, k, dtype=torch.float64)
    z = scale * F.normalize(w[1] - w[0], dim=0)
    p = (w @ z).softmax(dim=0)[0].item()
    printed = 1 / (1 + (k - 1) * math.exp(k * scale / (k - 1)))
    assert probability_floor(k, scale) < p < 0.3 * printed


def test_extremes_neither_overflow_nor_turn_negative():
    assert max_probability(10, 1e6) == 1.0
    assert probability_floor(10, 1e6) == 0.0
    assert loss_floor(10, 1.0, alpha=-1e6) == pytest.approx(1e6, rel=1e-5)
    assert max_probability(10, 1e-12) == pytest.approx(0.1, rel=1e-9)


@pytest.mark.parametrize("function", [loss_floor, max_probability, probability_floor])
def test_refusals(function):
    with pytest.raises(InputError, match="k must be at least 2"):
        function(1, 1.0)
    with pytest.raises(InputError, match="scale must lie in"):
        function(10, -1.0)


def test_refuses_a_term_that_is_not_a_number():
    with pytest.raises(InputError, match="alpha must lie in"):
        loss_floor(10, 1.0, alpha=math.nan)

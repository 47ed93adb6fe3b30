"""Mirror of src/anchored/theory/risk.py: the printed form, published numbers, limits, refusals."""

import math

import pytest

from anchored._errors import InputError
from anchored.theory import lipschitz_ce, noise_aware_scale, risk_bound, risk_bound_ce


def printed(k, eta, B):
    """Proposition 4.5 letter by letter."""
    c, t = (k - 1) / ((1 - eta) * k - 1), math.exp(-k * B / (k - 1))
    return 2 * c * eta * k * (1 - t) * B / (k - 1 + t * (k - 1) ** 2)


@pytest.mark.parametrize("k", [2, 3, 10, 100])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
@pytest.mark.parametrize("B", [0.3, 1.0, 6.0])
def test_theorem_and_proposition_agree(k, share, B):
    eta = share * (k - 1) / k
    assert risk_bound_ce(k, eta, B) == pytest.approx(printed(k, eta, B), rel=1e-10)


@pytest.mark.parametrize(
    ("eta", "expected"), [(0.1, 0.146), (0.2, 0.097), (0.3, 0.077), (0.4, 0.070), (0.6, 0.078), (0.8, 0.175)]
)
def test_the_noise_aware_scale_does_not_make_the_bound_constant(eta, expected):
    assert risk_bound_ce(10, eta, noise_aware_scale(eta)) == pytest.approx(expected, abs=6e-4)


def test_clean_labels_and_symmetric_losses_cost_nothing():
    assert risk_bound_ce(10, 0.0, 5.0) == 0.0
    assert risk_bound(10, 0.85, 0.0, 5.0) == 0.0


def test_the_bound_diverges_where_the_true_label_stops_being_the_likeliest():
    assert risk_bound(10, 0.9 - 1e-9, 1.0, 1.0) > 1e7


def test_the_bound_is_linear_in_the_constant():
    assert risk_bound(5, 0.3, 2 * lipschitz_ce(5, 1.0), 1.0) == pytest.approx(2 * risk_bound_ce(5, 0.3, 1.0))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 0.1, 1.0, 1.0), "k must be at least 2"),
        ((10, 0.9, 1.0, 1.0), "eta must lie in"),
        ((10, 0.1, -1.0, 1.0), "lipschitz must lie in"),
        ((10, 0.1, math.inf, 1.0), "lipschitz must lie in"),
        ((10, 0.1, 1.0, 0.0), "B must lie in"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(InputError, match=message):
        risk_bound(*arguments)

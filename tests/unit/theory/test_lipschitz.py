"""Mirror of src/anchored/theory/lipschitz.py: published values, limits in B, q and gamma, refusals.

That the values bound the gradient, and that cross entropy attains its own, is shown in tests/paper.
"""

import itertools
import math

import pytest

from anchored._errors import InputError
from anchored.theory import lipschitz_ce, lipschitz_focal, lipschitz_gce
from anchored.theory.lipschitz import distance_of_means, log_slope_focal


@pytest.mark.parametrize(("B", "expected"), [(5.0, 9.626), (1.0, 1.693), (0.2941, 0.372)])
def test_published_values_at_ten_classes(B, expected):
    assert lipschitz_ce(10, B) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("k", [2, 3, 10, 1000])
def test_long_features_approach_k_and_short_ones_are_linear(k):
    assert lipschitz_ce(k, 1e6) == k
    assert lipschitz_ce(k, 1e-12) == pytest.approx(1e-12 * k / (k - 1), rel=1e-9)


def test_two_classes_give_a_hyperbolic_tangent():
    assert lipschitz_ce(2, 0.7) == pytest.approx(2 * math.tanh(0.7), rel=1e-14)


def test_generalised_cross_entropy_at_one_is_symmetric():
    assert lipschitz_gce(10, 3.0, q=1.0) == 0.0


@pytest.mark.parametrize("k", [2, 10, 100])
@pytest.mark.parametrize("B", [0.1, 1.0, 20.0])
def test_both_bounds_stay_above_cross_entropy_as_the_exponents_vanish(k, B):
    assert lipschitz_gce(k, B, q=1e-12) >= lipschitz_ce(k, B)
    assert lipschitz_focal(k, B, gamma=0.0) >= lipschitz_ce(k, B)


def test_short_features_have_small_constants():
    assert lipschitz_gce(10, 1e-9, q=0.7) < 1e-8
    assert lipschitz_focal(10, 1e-9, gamma=0.5) < 1e-7


def test_long_features_have_finite_constants():
    assert lipschitz_gce(10, 1e6, q=0.7) == pytest.approx(10**0.3 * math.sqrt(20 / 9))
    assert lipschitz_focal(10, 1e6, gamma=0.5) == pytest.approx(1.5 * 10 * math.sqrt(0.9) * math.sqrt(20 / 9))


@pytest.mark.parametrize("gamma", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("p", [0.01, 0.4, 0.99])
def test_the_focal_slope_is_the_derivative(p, gamma):
    def focal(x):
        return -((1 - x) ** gamma) * math.log(x)

    h = 1e-6
    slope = -(focal(p + h) - focal(p - h)) / (2 * h)
    assert math.exp(log_slope_focal(p, gamma)) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("gamma", [0.1, 0.5, 1.0, 4.0])
def test_the_focal_slope_falls_as_the_bound_needs(gamma):
    values = [log_slope_focal(p / 1000, gamma) for p in range(1001)]
    assert values[0] == math.inf
    assert values[-1] == -math.inf
    assert all(a > b for a, b in itertools.pairwise(values))


def test_the_distance_of_means_is_the_smaller_of_two_bounds():
    short, long = distance_of_means(100, 0.1, 0.1), distance_of_means(100, 30.0, 7.9)
    assert short < math.sqrt(200 / 99) * math.tanh(0.1 / 4)
    assert long == pytest.approx(math.sqrt(200 / 99) * math.tanh(7.9 / 4))


@pytest.mark.parametrize("q", [0.0, -0.5, 1.1, math.nan])
def test_refuses_q_outside_the_interval(q):
    with pytest.raises(InputError, match=r"q must lie in \(0, 1\].*lipschitz_ce"):
        lipschitz_gce(10, 1.0, q)


def test_refuses_a_negative_gamma():
    with pytest.raises(InputError, match="gamma must lie in"):
        lipschitz_focal(10, 1.0, -0.5)


@pytest.mark.parametrize(
    "constant", [lipschitz_ce, lambda k, B: lipschitz_gce(k, B, 0.7), lambda k, B: lipschitz_focal(k, B, 1)]
)
def test_refuses_one_class_and_a_bad_radius(constant):
    with pytest.raises(InputError, match="k must be at least 2"):
        constant(1, 1.0)
    with pytest.raises(InputError, match=r"must lie in \(0, inf\)"):
        constant(10, 0.0)

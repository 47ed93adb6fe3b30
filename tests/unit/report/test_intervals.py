"""Mirror of src/anchored/report/_intervals.py: against scipy, the ends, and how often the interval holds."""

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from anchored.report._intervals import chance_difference, wilson


@pytest.mark.parametrize(("right", "n"), [(0, 5), (3, 7), (50, 50), (812, 1000)])
def test_agrees_with_scipy(right, n):
    other = binomtest(right, n).proportion_ci(0.95, method="wilson")
    assert wilson(right / n, n) == pytest.approx((other.low, other.high), abs=1e-6)


def test_without_samples_nothing_is_known():
    assert wilson(0.0, 0) == (0.0, 1.0)


def test_chance_alone_seldom_goes_further():
    rng = np.random.default_rng(0)
    a, b = rng.binomial(300, 0.8, 4000) / 300, rng.binomial(200, 0.8, 4000) / 200
    beyond = np.mean([abs(x - y) > chance_difference(x, 300, y, 200) for x, y in zip(a, b, strict=True)])
    assert beyond == pytest.approx(0.05, abs=0.015)


def test_the_width_is_that_of_a_normal_law():
    assert chance_difference(0.5, 100, 0.5, 100) == pytest.approx(norm.ppf(0.975) * (0.5 * 0.02**0.5), rel=1e-6)

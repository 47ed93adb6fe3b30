"""Mirror of src/anchored/theory/_arguments.py: what the formulas take, and how they refuse the rest."""

import math

import pytest

from anchored._errors import InputError
from anchored.theory._arguments import check_classes, check_noise_rate, check_radius


def test_valid_arguments_come_back_as_plain_numbers():
    assert check_classes(2) == 2
    assert check_noise_rate(0, 2) == 0.0
    assert type(check_radius("B", 3)) is float


@pytest.mark.parametrize("k", [1, 0, -3, 2.5, "10", True, None])
def test_refuses_fewer_than_two_classes(k):
    with pytest.raises(InputError, match="k must be"):
        check_classes(k)


@pytest.mark.parametrize(
    ("eta", "k"), [(0.5, 2), (0.9, 10), (0.95, 10), (-0.1, 10), (math.nan, 10), (1.0, 1000), ("0.2", 10)]
)
def test_refuses_a_noise_rate_at_which_the_true_label_is_not_the_likeliest(eta, k):
    with pytest.raises(InputError, match=r"eta must lie in \[0, .*got "):
        check_noise_rate(eta, k)


def test_the_refusal_of_a_noise_rate_states_the_limit_and_the_value():
    with pytest.raises(InputError, match=r"\[0, \(k-1\)/k\) = \[0, 0\.9\).*k=10.*got 0\.92"):
        check_noise_rate(0.92, 10)


@pytest.mark.parametrize("radius", [0.0, -1.0, math.inf, math.nan, None])
def test_refuses_a_radius_that_is_not_positive_and_finite(radius):
    with pytest.raises(InputError, match=r"scale must lie in \(0, inf\)"):
        check_radius("scale", radius)

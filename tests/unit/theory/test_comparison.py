"""Mirror of src/anchored/theory/comparison.py: the printed formula, the best split by trying all, limits, refusals."""

import math

import pytest

from anchored._errors import InputError
from anchored.theory import (
    lipschitz_ce,
    lipschitz_ce_unanchored,
    lipschitz_ce_unit_both,
    lipschitz_ce_unit_prototypes,
    lipschitz_ce_unnormalized,
)
from anchored.theory.comparison import opposite_groups


@pytest.mark.parametrize("k", [2, 3, 10, 100])
@pytest.mark.parametrize("B", [0.1, 1.0, 5.0])
def test_agrees_with_the_printed_formula(k, B):
    printed = 2 * (math.exp(2 * B) - 1) / (math.exp(2 * B) / (k - 1) + 1)
    assert lipschitz_ce_unit_both(k, B) == pytest.approx(printed, rel=1e-12)


@pytest.mark.parametrize("k", [2, 3, 7, 10, 101])
@pytest.mark.parametrize("B", [1e-6, 0.1, 0.5, 1.0, 3.0, 50.0, 1e4])
def test_the_exact_supremum_is_the_best_of_all_splits(k, B):
    best = max(opposite_groups(k, m, B) for m in range(1, k))
    assert lipschitz_ce_unanchored(k, B) == pytest.approx(best, rel=1e-14)


@pytest.mark.parametrize("k", [2, 10, 1000])
def test_without_a_bound_on_the_features_it_is_twice_k_minus_one(k):
    assert lipschitz_ce_unanchored(k) == 2 * (k - 1)
    assert lipschitz_ce_unanchored(k, 400.0) == pytest.approx(2 * (k - 1), rel=1e-14)
    assert lipschitz_ce_unit_prototypes(k) == k <= lipschitz_ce_unanchored(k)


def test_prototypes_of_any_length_have_no_constant():
    assert lipschitz_ce_unnormalized(3) == math.inf


def test_two_classes_are_always_a_simplex():
    assert lipschitz_ce_unit_both(2, 0.8) == pytest.approx(lipschitz_ce(2, 0.8), rel=1e-14)
    assert lipschitz_ce_unanchored(2, 0.8) == pytest.approx(lipschitz_ce(2, 0.8), rel=1e-14)


@pytest.mark.parametrize("function", [lipschitz_ce_unnormalized, lipschitz_ce_unit_prototypes, lipschitz_ce_unanchored])
def test_refuses_one_class(function):
    with pytest.raises(InputError, match="k must be at least 2"):
        function(1)


@pytest.mark.parametrize("B", [0.0, -1.0, -math.inf, math.nan])
def test_refuses_a_bad_radius(B):
    for function in (lipschitz_ce_unit_both, lipschitz_ce_unanchored):
        with pytest.raises(InputError, match="B must lie in"):
            function(10, B)

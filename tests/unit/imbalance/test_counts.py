"""Mirror of src/anchored/imbalance/_counts.py: the published counts to the unit, exact floors, refusals."""

import pytest

from anchored import InputError, imbalance


def exact_longtail(n_max, k, rho):
    """floor(n_max rho^(-j/(k-1))) in whole numbers: the largest n with n^(k-1) rho^j <= n_max^(k-1)."""
    values = []
    for j in range(k):
        n = n_max
        while n ** (k - 1) * rho**j > n_max ** (k - 1):
            n -= 1
        values.append(n)
    return tuple(values)


@pytest.mark.parametrize(
    ("n_max", "k", "rho", "total"),
    [
        (5000, 10, 100, 12406),
        (5000, 10, 50, 13996),
        (5000, 10, 10, 20431),
        (500, 100, 100, 10847),
        (500, 100, 50, 12608),
        (500, 100, 10, 19573),
    ],
)
def test_long_tails_have_the_published_totals(n_max, k, rho, total):
    sizes = imbalance.counts(n_max, k, rho)
    assert sum(sizes) == total
    assert (len(sizes), sizes[0], sizes[-1]) == (k, n_max, n_max // rho)


@pytest.mark.parametrize(("n_max", "k"), [(5000, 10), (500, 100)])
@pytest.mark.parametrize(("rho", "total"), [(100, 25250), (50, 25500), (10, 27500)])
def test_steps_have_the_published_totals(n_max, k, rho, total):
    sizes = imbalance.counts(n_max, k, rho, kind="step")
    assert sum(sizes) == total
    assert sizes == (n_max,) * (k // 2) + (n_max // rho,) * (k // 2)


def test_cifar10_and_mnist_counts_to_the_unit():
    assert imbalance.counts(5000, 10, 100) == (5000, 2997, 1796, 1077, 645, 387, 232, 139, 83, 50)
    assert imbalance.counts(1000, 10, 100) == (1000, 599, 359, 215, 129, 77, 46, 27, 16, 10)


@pytest.mark.parametrize(
    ("n_max", "k", "rho"), [(500, 100, 100), (49, 2, 49), (64, 7, 64), (243, 6, 243), (1000, 4, 8)]
)
def test_floors_are_those_of_whole_number_arithmetic(n_max, k, rho):
    assert imbalance.counts(n_max, k, rho) == exact_longtail(n_max, k, rho)


@pytest.mark.parametrize("factor", [0.01, 0.02, 0.03, 0.1])
def test_a_ratio_written_as_one_over_the_factor_loses_no_sample(factor):
    assert imbalance.counts(500, 100, 1 / factor)[-1] == round(500 * factor)


def test_ratio_one_is_balanced_and_an_odd_step_has_the_larger_half_small():
    assert imbalance.counts(30, 4, 1) == (30,) * 4
    assert imbalance.counts(30, 5, 10, kind="step") == (30, 30, 3, 3, 3)


@pytest.mark.parametrize("rho", [0.01, 0, -3, 101, float("nan"), float("inf")])
def test_refuses_a_factor_in_place_of_a_ratio_and_empty_classes(rho):
    with pytest.raises(InputError, match=r"rho must lie in \[1, 100\], got .*\(100, not 0\.01\)"):
        imbalance.counts(100, 10, rho)


def test_refuses_one_class_no_samples_and_unknown_kinds():
    with pytest.raises(InputError, match="k must be at least 2"):
        imbalance.counts(100, 1, 10)
    with pytest.raises(InputError, match="n_max must be at least 1"):
        imbalance.counts(0, 10, 1)
    with pytest.raises(InputError, match="did you mean 'longtail'"):
        imbalance.counts(100, 10, 10, kind="long-tail")

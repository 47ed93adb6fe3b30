"""Mirror of src/anchored/imbalance/_sizes.py: published counts and groups to the unit, fair picks, refusals."""

import pytest
import torch

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


@pytest.fixture
def labels():
    return torch.randint(4, (400,), generator=torch.Generator().manual_seed(0))


def test_each_class_keeps_as_many_as_asked(labels):
    index = imbalance.subset(labels, (50, 20, 0, 3))
    assert torch.bincount(labels[index], minlength=4).tolist() == [50, 20, 0, 3]
    assert torch.equal(index, index.unique())  # increasing, none twice


def test_every_sample_is_as_likely_to_stay():
    labels = torch.tensor([0, 1, 0, 0, 1, 0])
    generator = torch.Generator().manual_seed(0)
    kept = torch.zeros(6)
    for _ in range(1000):
        kept[imbalance.subset(labels, (1, 1), generator=generator)] += 1
    torch.testing.assert_close(kept / 1000, torch.tensor([0.25, 0.5, 0.25, 0.25, 0.5, 0.25]), atol=0.06, rtol=0)


def test_a_steeper_tail_is_a_subset_of_a_flatter_one(labels):
    steep = imbalance.subset(labels, (60, 20, 5, 1), generator=torch.Generator().manual_seed(7))
    flat = imbalance.subset(labels, (60, 40, 20, 10), generator=torch.Generator().manual_seed(7))
    assert set(steep.tolist()) < set(flat.tolist())


def test_draws_are_those_of_the_generator(labels):
    a, b, c = (imbalance.subset(labels, (20,) * 4, generator=torch.Generator().manual_seed(s)) for s in (1, 1, 2))
    assert torch.equal(a, b)
    assert not torch.equal(a, c)


def test_refuses_more_than_there_is_and_names_the_class(labels):
    with pytest.raises(InputError, match=r"asks for 500 samples of class 1, but labels holds \d+; lower n_max or rho"):
        imbalance.subset(labels, (50, 500, 5, 5))
    with pytest.raises(InputError, match=r"of class 0, .*\(4 classes are too small\)"):
        imbalance.subset(labels, (500, 500, 500, 500))


def test_refuses_a_label_without_a_count(labels):
    with pytest.raises(InputError, match=r"in 0\.\.2, got values from 0 to 3"):
        imbalance.subset(labels, (5, 5, 5))


@pytest.mark.parametrize(
    ("n_max", "k", "rho", "sizes"),
    [
        (5000, 10, 100, [8, 2, 0]),
        (5000, 10, 50, [9, 1, 0]),
        (5000, 10, 10, [10, 0, 0]),
        (500, 100, 100, [35, 35, 30]),
        (500, 100, 50, [41, 41, 18]),
        (500, 100, 10, [69, 31, 0]),
    ],
)
def test_threshold_groups_have_the_published_sizes(n_max, k, rho, sizes):
    groups = imbalance.shots(imbalance.counts(n_max, k, rho))
    assert [len(groups.many), len(groups.medium), len(groups.few)] == sizes


@pytest.mark.parametrize(("k", "sizes"), [(10, [3, 4, 3]), (100, [36, 35, 29]), (1000, [390, 445, 165])])
def test_ranked_groups_have_the_published_sizes_whatever_the_counts(k, sizes):
    for rho in (1, 10, 100):
        groups = imbalance.shots(imbalance.counts(500, k, rho), rule="mislas")
        assert [len(group) for group in groups.values()] == sizes
        assert groups.many + groups.medium + groups.few == tuple(range(k))


def test_edges_of_the_threshold_rule():
    assert imbalance.shots((101, 100, 20, 19, 0)) == imbalance.Shots(many=(0,), medium=(1, 2), few=(3, 4))


def test_ranking_is_by_size_and_not_by_index():
    sizes = torch.tensor([5, 90, 10, 80, 20, 70, 30, 60, 40, 50])
    groups = imbalance.shots(sizes, rule="mislas")
    assert groups.many == (1, 3, 5)
    assert groups.few == (0, 2, 4)


def test_groups_read_as_attributes_and_as_a_mapping():
    groups = imbalance.shots((500, 50, 5))
    assert dict(groups) == {"many": (0,), "medium": (1,), "few": (2,)}
    assert groups["few"] == groups.few
    assert len(groups) == 3
    with pytest.raises(KeyError):
        groups["values"]


@pytest.mark.parametrize("counts", [(), (1.5, 2.0), (-1, 2), torch.ones(2, 2, dtype=torch.int64), (True, False)])
def test_refuses_what_are_no_counts(counts):
    with pytest.raises(InputError, match="counts must"):
        imbalance.shots(counts)


def test_refuses_a_ranking_of_unpublished_size_and_unknown_rules():
    with pytest.raises(InputError, match='10, 100 and 1000 classes, got k = 7; use rule "threshold"'):
        imbalance.shots((1,) * 7, rule="mislas")
    with pytest.raises(InputError, match="did you mean 'threshold'"):
        imbalance.shots((1, 2), rule="treshold")

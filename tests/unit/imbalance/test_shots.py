"""Mirror of src/anchored/imbalance/_shots.py: the published group sizes of both rules, edges, refusals."""

import pytest
import torch

from anchored import InputError, imbalance


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

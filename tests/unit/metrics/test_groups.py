"""Mirror of src/anchored/metrics/_groups.py: each class in one group, the rules' edges, refusals."""

import pytest
import torch

from anchored import InputError
from anchored.metrics._groups import groups


@pytest.mark.parametrize("rule", ["threshold", "mislas"])
def test_each_class_is_in_exactly_one_group(rule):
    sizes = torch.randint(300, (100,), generator=torch.Generator().manual_seed(0))
    assert torch.stack(groups(sizes, rule)).sum(dim=0).tolist() == [1] * 100


def test_edges_of_the_threshold_rule():
    many, medium, few = groups((101, 100, 20, 19), "threshold")
    assert many.tolist() == [True, False, False, False]
    assert medium.tolist() == [False, True, True, False]
    assert few.tolist() == [False, False, False, True]


@pytest.mark.parametrize(("k", "sizes"), [(10, [3, 4, 3]), (100, [36, 35, 29]), (1000, [390, 445, 165])])
def test_sizes_of_the_ranked_rule(k, sizes):
    assert [int(mask.sum()) for mask in groups(range(k), "mislas")] == sizes


@pytest.mark.parametrize("counts", [(), (1.5,), (-1,)])
def test_refuses_what_are_no_counts(counts):
    with pytest.raises(InputError, match="counts must hold the number of training samples"):
        groups(counts, "threshold")


def test_refuses_a_ranking_of_unpublished_size_and_unknown_rules():
    with pytest.raises(InputError, match='got 7; use rule "threshold"'):
        groups((1,) * 7, "mislas")
    with pytest.raises(InputError, match="unknown rule"):
        groups((1,) * 10, "kang")

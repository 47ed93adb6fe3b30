"""Mirror of src/anchored/metrics/_shot_accuracy.py: a slow loop, unweighted means, absent is None."""

import json

import pytest
import torch

from anchored import InputError, metrics


def by_hand(predictions, target, counts):
    """Mean over classes of the share right, group by group, in plain Python."""
    named = {"many": [], "medium": [], "few": [], "all": []}
    for c, n in enumerate(counts):
        right = [p == t for p, t in zip(predictions, target, strict=True) if t == c]
        if right:
            name = "many" if n > 100 else "few" if n < 20 else "medium"
            named[name].append(sum(right) / len(right))
            named["all"].append(sum(right) / len(right))
    return {name: sum(values) / len(values) if values else None for name, values in named.items()}


def test_agrees_with_a_slow_loop():
    g = torch.Generator().manual_seed(0)
    counts = (900, 300, 101, 100, 40, 20, 19, 3)
    scores, target = torch.randn(400, 8, generator=g), torch.randint(8, (400,), generator=g)
    got = metrics.shot_accuracy(scores, target, counts)
    assert dict(got) == pytest.approx(by_hand(scores.argmax(dim=1).tolist(), target.tolist(), counts))
    assert got.classes == (3, 3, 2, 8)


def test_classes_count_alike_however_many_test_samples_they_have():
    predictions = torch.tensor([0] * 9 + [0])
    target = torch.tensor([0] * 9 + [1])
    got = metrics.shot_accuracy(predictions, target, (500, 400))
    assert got.many == got.all == 0.5


def test_an_empty_group_is_none_and_not_zero():
    got = metrics.shot_accuracy(torch.tensor([0, 1]), torch.tensor([0, 1]), (5000, 4000))
    assert (got.many, got.medium, got.few) == (1.0, None, None)


def test_a_group_whose_classes_are_not_tested_is_none():
    got = metrics.shot_accuracy(torch.tensor([0, 0]), torch.tensor([0, 0]), (500, 50, 5))
    assert (got.medium, got.few, got.classes) == (None, None, (1, 0, 0, 1))


def test_the_ranked_rule_groups_by_rank():
    wrong_for_few = torch.tensor([0, 1, 2, 3, 4, 5, 6, 0, 0, 0])
    got = metrics.shot_accuracy(wrong_for_few, torch.arange(10), range(2000, 1000, -100), rule="mislas")
    assert dict(got) == {"many": 1.0, "medium": 1.0, "few": 0.0, "all": 0.7}


def test_result_reads_as_a_mapping_and_goes_into_json():
    got = metrics.shot_accuracy(torch.tensor([0, 1]), torch.tensor([0, 0]), (500, 5))
    assert json.loads(json.dumps(dict(got))) == {"many": 0.5, "medium": None, "few": None, "all": 0.5}
    assert got["many"] == got.many
    assert len(got) == 4
    with pytest.raises(KeyError):
        got["classes"]


def test_refuses_counts_that_do_not_fit_the_scores():
    with pytest.raises(InputError, match="got 2 for scores of 3 classes"):
        metrics.shot_accuracy(torch.zeros(1, 3), torch.tensor([0]), (500, 5))
    with pytest.raises(InputError, match=r"predictions must be in 0\.\.1"):
        metrics.shot_accuracy(torch.tensor([2]), torch.tensor([0]), (500, 5))

"""Mirror of src/anchored/audit/judges/combine.py: weights at which no other weights are better."""

import itertools

import pytest
import torch

from anchored import InputError
from anchored.audit import Opinion, combine
from anchored.audit.judges import likelihood_under_law


def opinions(n=1500, k=3, sizes=(1.5, 1.0, 0.0)):
    g = torch.Generator().manual_seed(0)
    labels = torch.randint(k, (n,), generator=g)
    hot = torch.nn.functional.one_hot(labels, k)
    made = [s * hot + torch.randn(n, k, generator=g, dtype=torch.float64) for s in sizes]
    return [Opinion(str(s), m.log_softmax(1), 0.0, 0.0) for s, m in zip(sizes, made, strict=True)], labels


def likelihood(logits, labels):
    return float(logits.log_softmax(1).gather(1, labels[:, None]).mean())


def test_no_weights_of_a_grid_are_better():
    given, labels = opinions()
    found, weighted = combine(given, labels)
    assert sum(each.weight for each in weighted) == pytest.approx(1.0)
    steps = [0.0, 0.3, 0.7, 1.0, 1.3, 1.7]
    for v in itertools.product(steps, repeat=3):
        mixed = sum(w * each.logits for w, each in zip(v, given, strict=True))
        assert likelihood(found, labels) >= likelihood(mixed, labels) - 1e-3


def test_the_useless_gets_next_to_nothing_and_the_better_more():
    _, (good, fair, useless) = combine(*opinions())
    assert good.weight > fair.weight > useless.weight
    assert useless.weight < 0.05


def test_two_are_better_than_one_and_one_is_itself():
    given, labels = opinions()
    both, _ = combine(given[:2], labels)
    alone, (only,) = combine(given[:1], labels)
    assert likelihood(both, labels) > likelihood(alone, labels)
    assert torch.equal(alone, given[0].logits)
    assert only.weight == 1.0


def test_equal_judges_share_the_weight():
    given, labels = opinions()
    _, (one, other) = combine([given[0], given[0]], labels)
    assert one.weight == pytest.approx(other.weight, abs=1e-3)


def test_refuses_nobody_and_others_samples():
    given, labels = opinions()
    with pytest.raises(InputError, match="no judge"):
        combine([], labels)
    with pytest.raises(InputError, match="same samples"):
        combine(given, labels[:-1])


def test_where_labels_are_wrong_no_weights_of_a_grid_are_better_under_the_law():
    g = torch.Generator().manual_seed(0)
    truth = torch.randint(4, (1200,), generator=g)
    given = torch.where(torch.rand(1200, generator=g) < 0.4, torch.randint(4, (1200,), generator=g), truth)
    hot, knows = torch.nn.functional.one_hot(truth, 4).double(), (torch.arange(1200) % 2 == 0)[:, None]
    said = [6.0 * hot * knows, 1.5 * hot]
    said = [Opinion("", (s + torch.randn(s.shape, generator=g)).log_softmax(1), 0.0, 0.0) for s in said]
    found, _ = combine(said, given)
    best = likelihood_under_law(found, given)
    assert best > likelihood(found, given) + 0.01
    for share in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        mixed = share * said[0].logits + (1 - share) * said[1].logits
        assert best >= likelihood_under_law(mixed, given) - 2e-3

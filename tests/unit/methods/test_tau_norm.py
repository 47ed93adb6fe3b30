"""Mirror of src/anchored/methods/tau_norm.py: the grid search by hand, its ties, and nothing to search on."""

import math

import pytest
import torch
from tests.builders import build_context

from anchored._errors import InputError
from anchored.heads import LinearHead, TauNormHead
from anchored.methods import make_procedure
from anchored.methods.tau_norm import TauNormalization, best_power


class Seen:
    """Evidence of the test's own."""

    def __init__(self, held_out):
        self.held_out = held_out

    def features(self, part):
        assert part == "held-out", "the power is not chosen on what was trained on"
        return self.held_out


def made(**options):
    return make_procedure(build_context("tau-norm", counts=(90, 30, 10), options=options))


def lopsided(k=3, d=32):
    """A classifier whose first rows are the longer ones, as imbalance makes them."""
    head = LinearHead(d, k, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        head.weight *= torch.tensor([8.0, 3.0, 1.0])[:, None]
    return head


def samples(n=90, d=32):
    g = torch.Generator().manual_seed(2)
    labels = torch.arange(n) % 3
    return 0.3 * lopsided().weight.detach()[labels] / lopsided().weight.detach()[labels].norm(
        dim=1, keepdim=True
    ) * 9 + (torch.randn(n, d, generator=g)), labels


def by_hand(head, features, labels):
    """The mean accuracy per class at every power, in plain Python."""
    found = {}
    for step in range(21):
        tau = step / 10
        right, seen = [0] * 3, [0] * 3
        for z, y in zip(features.tolist(), labels.tolist(), strict=True):
            scores = []
            for row in head.weight.tolist():
                length = math.sqrt(sum(value * value for value in row))
                scores.append(sum(a * b for a, b in zip(row, z, strict=True)) / length**tau)
            right[y] += max(range(3), key=scores.__getitem__) == y
            seen[y] += 1
        found[tau] = sum(r / s for r, s in zip(right, seen, strict=True) if s) / sum(s > 0 for s in seen)
    return found


def test_the_power_is_the_smallest_of_the_best_on_held_out_data():
    head, (features, labels) = lopsided(), samples()
    fairness = by_hand(head, features, labels)
    best = max(fairness.values())
    expected = min(tau for tau, value in fairness.items() if value > best - 1e-9)
    assert 0 < expected < 2, "the example must be one where it matters"
    assert best_power(head, features, labels) == expected


def test_of_equals_the_smaller_wins():
    head = LinearHead.from_rows(torch.eye(3, 32), bias=False)
    assert best_power(head, torch.eye(3, 32), torch.arange(3)) == 0.0


def test_a_class_without_held_out_samples_does_not_count():
    head, (features, labels) = lopsided(), samples()
    some = labels != 1
    fairness = by_hand(head, features[some], labels[some])
    best = max(fairness.values())
    expected = min(tau for tau, value in fairness.items() if value > best - 1e-9)
    assert best_power(head, features[some], labels[some]) == expected


def test_power_zero_is_the_first_stage_without_its_bias():
    method = made(tau=0.0)
    assert isinstance(method, TauNormalization)
    network, change = method.network().eval(), method.stages()[1]
    x = torch.randn(5, 6, generator=torch.Generator().manual_seed(1))
    expected = network(x) - network.head.bias
    change.enter(network)
    change.fill(network, Seen(None))
    torch.testing.assert_close(network(x), expected)


@pytest.mark.parametrize(("options", "held_out", "tau"), [({}, None, 1.0), ({"tau": 0.5}, samples(), 0.5)])
def test_without_held_out_data_all_lengths_are_one_and_an_option_decides(options, held_out, tau):
    method = made(**options)
    network = method.network()
    network.head = lopsided()
    change = method.stages()[1]
    change.enter(network)
    change.fill(network, Seen(held_out))
    assert network.head.tau == tau
    torch.testing.assert_close(network.head.rows(), TauNormHead(lopsided(), tau=tau).rows())
    assert list(network.head.parameters()) == []


def test_the_choice_reaches_the_network():
    method, (features, labels) = made(), samples()
    network = method.network()
    network.head = lopsided()
    change = method.stages()[1]
    change.enter(network)
    change.fill(network, Seen((features, labels)))
    assert network.head.tau == pytest.approx(best_power(lopsided(), features, labels))
    assert not change.trained


@pytest.mark.parametrize("tau", [-1.0, "much", math.nan])
def test_what_is_no_power_is_refused(tau):
    with pytest.raises(InputError, match=r"method.options.tau must lie in \[0, inf\)"):
        made(tau=tau)

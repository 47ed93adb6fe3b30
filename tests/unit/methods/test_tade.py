"""Mirror of src/anchored/methods/tade.py: three priors by hand, their limits, and the aggregation of experts."""

import dataclasses
import math

import pytest
import torch
from tests.builders import build_context
from torch import nn

from anchored import CosineHead, InputError
from anchored._random import seed_of, stream
from anchored.data import Batches, HorizontalFlip, load_digits, shuffled
from anchored.losses import BalancedSoftmax, CrossEntropy
from anchored.methods import make_procedure
from anchored.methods.experts import ExpertHead, ExpertLogits, ExpertNetwork
from anchored.methods.tade import ExpertLoss, aggregate, reversed_prior

COUNTS = [40, 7, 20, 5]


def given(method="tade", **settings):
    return build_context(method, shape=(1, 8, 8), counts=COUNTS, **settings)


@pytest.fixture
def answer():
    g = torch.Generator().manual_seed(0)
    experts = 3 * torch.randn(9, 3, 4, generator=g, dtype=torch.float64)
    return ExpertLogits(experts.mean(dim=1), experts), torch.randint(4, (9,), generator=g)


def by_hand(experts, labels, counts, tau):
    """The published sum, one number at a time."""
    prior = [c / sum(counts) for c in counts]
    rank = [sorted(prior).index(p) for p in prior]
    turned = [sorted(prior, reverse=True)[r] for r in rank]
    values = []
    for row, y in zip(experts.tolist(), labels.tolist(), strict=True):
        total = 0.0
        for e, v in enumerate(row):
            if e > 0:
                v = [x + math.log(p) for x, p in zip(v, prior, strict=True)]
            if e > 1:
                v = [x - tau * math.log(p) for x, p in zip(v, turned, strict=True)]
            total += math.log(sum(math.exp(x) for x in v)) - v[y]
        values.append(total)
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize("tau", [0.0, 1.0, 2.0])
def test_the_loss_is_the_published_sum(answer, tau):
    outputs, labels = answer
    loss = ExpertLoss(torch.tensor(COUNTS), tau=tau).double()
    torch.testing.assert_close(
        loss.pointwise(outputs, labels), by_hand(outputs.experts, labels, COUNTS, tau), rtol=1e-6, atol=1e-6
    )


def test_with_equal_priors_every_expert_has_cross_entropy(answer):
    outputs, labels = answer
    each = [CrossEntropy().pointwise(outputs.experts[:, e], labels) for e in range(3)]
    values = ExpertLoss(torch.full((4,), 17)).pointwise(outputs, labels)
    torch.testing.assert_close(values, each[0] + each[1] + each[2], rtol=1e-6, atol=1e-6)


def test_the_second_expert_has_balanced_softmax_and_at_tau_zero_the_third_too(answer):
    outputs, labels = answer
    loss = ExpertLoss(torch.tensor(COUNTS), tau=0.0)
    plain = CrossEntropy().pointwise(outputs.experts[:, 0], labels)
    balanced = [BalancedSoftmax(COUNTS).pointwise(outputs.experts[:, e], labels) for e in (1, 2)]
    torch.testing.assert_close(loss.pointwise(outputs, labels), plain + balanced[0] + balanced[1], rtol=1e-6, atol=1e-6)


def test_a_prior_reversed_twice_is_itself():
    prior = torch.tensor(COUNTS).double()
    assert reversed_prior(prior).tolist() == [5, 20, 7, 40]
    assert torch.equal(reversed_prior(reversed_prior(prior)), prior)


def test_the_third_expert_favours_what_the_first_neglects():
    """Where inputs say nothing, the best that an expert can answer is the log-prior of the data minus its shift."""
    loss = ExpertLoss(torch.tensor(COUNTS))
    best = torch.tensor(COUNTS).log() - loss.shifts
    assert best.argmax(dim=1).tolist()[0] == 0  # the most frequent class
    assert torch.allclose(best[1], best[1, :1])  # none in particular
    assert int(best[2].argmax()) == 3  # the rarest


@pytest.mark.parametrize("method", ["tade", "tade+pal"])
def test_a_network_made_blank_takes_the_weights_of_another(method):
    x = torch.randn(2, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    trained = make_procedure(given(method)).network().eval()
    trained.head.weights.copy_(torch.tensor([0.2, 0.3, 0.5]))
    again = make_procedure(given(method, seed=3, blank=True)).network().eval()
    again.load_state_dict(trained.state_dict())
    assert torch.equal(again(x), trained(x))


def test_experts_start_apart_and_anchored_ones_share_their_anchors():
    plain, anchored = make_procedure(given()).network(), make_procedure(given("tade+pal")).network()
    for network in (plain, anchored):
        weights = [branch[0][0].weight for branch in network.fork.branches]
        assert not torch.equal(weights[0], weights[1])
        assert not torch.equal(weights[1], weights[2])
    assert not torch.equal(plain.head.experts[0].weight, plain.head.experts[1].weight)
    assert torch.equal(anchored.head.experts[0].prototypes, anchored.head.experts[2].prototypes)
    assert not list(anchored.head.parameters())
    assert [expert.scale for expert in (*plain.head.experts, *anchored.head.experts)] == [30.0] * 6


def test_tau_is_an_option():
    (stage,) = make_procedure(given(options={"tau": 0.0})).stages()
    assert torch.equal(stage.loss.shifts[1], stage.loss.shifts[2])
    with pytest.raises(InputError, match="tau"):
        make_procedure(given(options={"tau": -1.0}))


class MirrorExperts(nn.Module):
    """The first expert does not see whether the image is mirrored; the others see nothing else."""

    input_shape = (1, 8, 8)

    def forward(self, images):
        rows, columns = images.double().mean(dim=3).flatten(1), images.double().mean(dim=2).flatten(1)
        skew = columns - columns.flip(1)
        return [rows, skew, skew]


def mirrored(**settings):
    heads = [CosineHead(8, 4, scale=10.0, generator=stream(0, "head", e)) for e in range(3)]
    network = ExpertNetwork(MirrorExperts(), ExpertHead(heads)).double()
    data = load_digits().test
    return network, Batches(data, batch_size=100, augment=HorizontalFlip(), dtype=torch.float64, **settings)


def test_the_expert_whose_answers_do_not_change_gets_the_largest_weight():
    network, batches = mirrored()
    network.train()
    weights = aggregate(network, batches)
    assert float(weights.sum()) == pytest.approx(1)
    assert float(weights[0]) > 2 * float(weights[1:].max())
    assert torch.equal(weights, network.head.weights)
    assert network.training  # left as it was


def test_the_weights_are_those_of_nesterovs_descent_by_hand():
    network, batches = mirrored()
    order = shuffled(len(batches.dataset), seed=7, epoch=0)
    views = [list(batches.epoch(order, seed=seed_of(7, name), epoch=0)) for name in ("view 1", "view 2")]
    u, speed = [1 / 3] * 3, [0.0] * 3

    def objective(u, pair):
        a = torch.tensor(u, dtype=torch.float64).softmax(dim=0)
        p = [
            sum(a[e] * network.head.experts[e](z) for e, z in enumerate(network.fork(v.inputs))).softmax(1)
            for v in pair
        ]
        return -float(((p[0] * p[1]).sum(1) / (p[0].norm(dim=1) * p[1].norm(dim=1))).mean())

    with torch.no_grad():
        for pair in zip(*views, strict=True):
            steps = [[x + h * (i == e) for i, x in enumerate(u)] for e in range(3) for h in (1e-5, -1e-5)]
            values = [objective(step, pair) for step in steps]
            for e in range(3):
                gradient = (values[2 * e] - values[2 * e + 1]) / 2e-5 + 5e-4 * u[e]
                speed[e] = 0.9 * speed[e] + gradient
                u[e] -= 0.1 * (gradient + 0.9 * speed[e])
    found = aggregate(network, batches, epochs=1, seed=7)
    torch.testing.assert_close(found, torch.tensor(u, dtype=torch.float64).softmax(0), rtol=1e-6, atol=1e-6)


def test_aggregation_repeats_forgets_what_was_and_looks_at_no_label():
    network, batches = mirrored()
    first = aggregate(network, batches, epochs=1)
    assert torch.equal(aggregate(network, batches, epochs=1), first)
    unlabelled = dataclasses.replace(batches.dataset, labels=torch.full((len(batches.dataset),), -1))
    hidden = Batches(unlabelled, batch_size=100, augment=HorizontalFlip(), dtype=torch.float64)
    assert torch.equal(aggregate(network, hidden, epochs=1), first)
    assert not torch.equal(aggregate(network, batches, epochs=1, seed=1), first)


def test_aggregation_ends_when_an_expert_has_almost_no_weight():
    network, batches = mirrored()
    after_one = aggregate(network, batches, epochs=1)
    assert torch.equal(aggregate(network, batches, epochs=50, least=0.34), after_one)
    assert float(aggregate(network, batches, epochs=50, learning_rate=2.0).min()) < 0.05


def test_aggregation_refuses_other_networks_and_single_views():
    network, _ = mirrored()
    data = load_digits().test
    with pytest.raises(InputError, match="two views of each input"):
        aggregate(network, Batches(data, batch_size=100))
    other = make_procedure(given("ce")).network()
    with pytest.raises(InputError, match="trained by tade, got Classifier"):
        aggregate(other, Batches(data, batch_size=100, augment=HorizontalFlip()))

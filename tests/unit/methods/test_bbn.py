"""Mirror of src/anchored/methods/bbn.py: the mixture by hand, both ends of the weight, statistics, anchors."""

import copy

import pytest
import torch
from tests.builders import build_context
from torch import nn

from anchored import backbones
from anchored.methods import BuildContext, make_procedure, parse

K = 4


def given(method="bbn", backbone="tiny", shape=(6,), **settings):
    return build_context(method, backbone, shape, **settings)


def inputs(n=5, shape=(6,), seed=0):
    return torch.randn(n, *shape, generator=torch.Generator().manual_seed(seed))


def test_at_half_the_weight_training_sees_what_testing_sees():
    network = make_procedure(given()).network()
    x = inputs()
    with torch.no_grad():
        in_training = network.train()(torch.cat([x, x]))  # alpha is 1/2 until an epoch sets it
        torch.testing.assert_close(in_training, network.eval()(x))


def test_the_mixture_is_the_published_one():
    network = make_procedure(given()).network()
    network.alpha.fill_(0.3)
    first, second = inputs(), inputs(seed=1)
    with torch.no_grad():
        logits = network.train()(torch.cat([first, second]))
        z_c = network.fork.branches[0](network.fork.trunk(first)).tolist()
        z_r = network.fork.branches[1](network.fork.trunk(second)).tolist()
    weight, bias = network.head.weight.tolist(), network.head.bias.tolist()
    for i in range(5):
        mixed = [2 * 0.3 * v for v in z_c[i]] + [2 * 0.7 * v for v in z_r[i]]
        for j in range(K):
            by_hand = sum(w * v for w, v in zip(weight[j], mixed, strict=True)) + bias[j]
            assert float(logits[i, j]) == pytest.approx(by_hand, abs=1e-5)


@pytest.mark.parametrize(("alpha", "silent"), [(1.0, 1), (0.0, 0)])
def test_at_either_end_one_half_says_nothing(alpha, silent):
    network = make_procedure(given()).network().train()
    network.alpha.fill_(alpha)
    halves = [inputs(), inputs(seed=1)]
    before = network(torch.cat(halves))
    halves[silent] = inputs(seed=2)
    assert torch.equal(network(torch.cat(halves)), before)
    halves[1 - silent] = inputs(seed=2)
    assert not torch.allclose(network(torch.cat(halves)), before)


def test_the_weight_moves_along_the_published_parabola():
    runs = make_procedure(given())
    network, (stage,) = runs.network(), runs.stages()
    for epoch in (1, 50, 100, 200):  # as published, counted from 1
        stage.begin_epoch(network, (epoch - 1) / 200)
        assert float(network.alpha) == pytest.approx(1 - ((epoch - 1) / 200) ** 2)
        assert stage.share((epoch - 1) / 200) == pytest.approx(float(network.alpha))
    assert stage.companion == "reversed"
    assert stage.sampling == "instance"


def test_each_branch_has_the_statistics_of_its_own_batches():
    network = make_procedure(given(backbone="cnn4", shape=(1, 8, 8))).network().train()
    expected = copy.deepcopy(network.fork)
    halves = [inputs(8, (1, 8, 8)), 3 + inputs(8, (1, 8, 8), seed=1)]
    network(torch.cat(halves))
    for branch, half in zip(expected.branches, halves, strict=True):
        branch(expected.trunk(half))
    for (name, buffer), other in zip(network.fork.named_buffers(), expected.buffers(), strict=True):
        assert torch.equal(buffer, other), name
    joint = copy.deepcopy(expected)
    joint.trunk(torch.cat(halves))
    assert any(not torch.equal(a, b) for a, b in zip(joint.buffers(), expected.buffers(), strict=True))


def test_the_branches_start_from_different_weights():
    first, second = make_procedure(given()).network().fork.branches
    assert not torch.equal(first[0][0].weight, second[0][0].weight)


def test_anchors_keep_their_angles_and_give_every_class_to_both_branches():
    network = make_procedure(given("bbn+pal", "cnn4", (1, 8, 8))).network()
    w = network.head.prototypes.double()
    d = w.shape[1] // 2
    torch.testing.assert_close(w @ w.T, torch.eye(K).double() * (1 + 1 / (K - 1)) - 1 / (K - 1), atol=1e-6, rtol=0)
    for half in (w[:, :d], w[:, d:]):
        torch.testing.assert_close((half.clamp(min=0) @ half.T).argmax(dim=1), torch.arange(K))
    assert not list(network.head.parameters())


@pytest.mark.parametrize("method", ["bbn", "bbn+pal"])
def test_a_network_made_blank_takes_the_weights_of_another(method):
    trained = make_procedure(given(method)).network().eval()
    again = make_procedure(given(method, seed=3, blank=True)).network().eval()
    again.load_state_dict(trained.state_dict())
    assert torch.equal(again(inputs()), trained(inputs()))


def test_a_module_of_the_users_own_gets_a_second_copy():
    module = nn.Sequential(nn.Linear(6, 3), nn.ReLU())

    def backbone(name="init"):
        return backbones.wrap(module if name == "init" else copy.deepcopy(module), (6,))

    network = make_procedure(
        BuildContext(method=parse("bbn"), backbone=backbone, counts=torch.tensor([4, 2]))
    ).network()
    first, second = network.fork(inputs())
    assert torch.equal(first, second)
    assert len(list(network.parameters())) == 2 * 2 + 2

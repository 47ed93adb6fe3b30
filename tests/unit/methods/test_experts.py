"""Mirror of src/anchored/methods/experts.py: each expert sees its own features, the answer is their weighted mean."""

import torch

from anchored import CosineHead, backbones
from anchored._random import stream
from anchored.backbones import Fork
from anchored.methods.experts import ExpertHead, ExpertLogits, ExpertNetwork


def network():
    nets = [backbones.get("tiny", (6,), generator=stream(0, "net", i)) for i in range(3)]
    heads = [CosineHead(32, 4, scale=30.0, generator=stream(0, "head", i)) for i in range(3)]
    return ExpertNetwork(Fork(nets, "early"), ExpertHead(heads)).eval()


def inputs():
    return torch.randn(5, 6, generator=torch.Generator().manual_seed(0))


def test_logits_are_the_mean_of_the_experts_logits():
    net = network()
    branches = net.fork(inputs())
    each = [head(features) for head, features in zip(net.head.experts, branches, strict=True)]
    torch.testing.assert_close(net(inputs()), (each[0] + each[1] + each[2]) / 3)


def test_the_weights_choose_between_experts_and_are_saved():
    net = network()
    net.head.weights.copy_(torch.tensor([0.0, 1.0, 0.0]))
    expected = net.head.experts[1](net.fork(inputs())[1])
    torch.testing.assert_close(net(inputs()), expected)
    assert "head.weights" in net.state_dict()
    assert all(p is not net.head.weights for p in net.parameters())


def test_in_training_every_expert_answers():
    answer = network().train()(inputs())
    assert isinstance(answer, ExpertLogits)
    assert answer.experts.shape == (5, 3, 4)
    torch.testing.assert_close(answer.logits, answer.experts.mean(dim=1))


def test_features_are_what_the_head_sees():
    net = network()
    features = net.features(inputs())
    assert features.shape == (5, net.head.in_features) == (5, 96)
    assert torch.equal(net.head(features), net(inputs()))
    assert net.rows() is None  # a mean of cosines is not a product with one row per class

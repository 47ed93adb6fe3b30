"""Mirror of src/anchored/backbones/projected.py: a linear layer behind any backbone, and nothing else."""

import pytest
import torch

from anchored import InputError, backbones
from anchored.backbones import project


def test_features_are_those_of_the_backbone_times_the_matrix():
    inner = backbones.get("mlp", (6,), hidden=(10,))
    net = project(inner, 4, generator=torch.Generator().manual_seed(1))
    x = torch.randn(5, 6, generator=torch.Generator().manual_seed(2))
    by_hand = torch.stack([net.projection.weight @ inner(row[None])[0] for row in x])
    torch.testing.assert_close(net.eval()(x), by_hand)


def test_the_layer_keeps_the_length_of_features_on_average():
    net = backbones.get("tiny", (8,), project=400, generator=torch.Generator().manual_seed(1))
    features = torch.rand(200, net.backbone.feature_dim, generator=torch.Generator().manual_seed(2))
    lengths = (features @ net.projection.weight.T).detach().norm(dim=1) / features.norm(dim=1)
    torch.testing.assert_close(lengths.mean(), torch.tensor(1.0), atol=0.05, rtol=0)


def test_features_can_have_either_sign_though_the_backbone_ends_in_a_relu():
    net = backbones.get("mlp", (6,), project=20)
    features = net(torch.randn(50, 6, generator=torch.Generator().manual_seed(0)))
    assert net.signed_features
    assert bool((features < 0).any())
    assert bool((features > 0).any())


def test_the_backbone_behind_it_has_the_weights_it_has_alone():
    def stream():
        return torch.Generator().manual_seed(3)

    alone = backbones.get("resnet32", (3, 32, 32), generator=stream())
    net = backbones.get("resnet32", (3, 32, 32), project=128, generator=stream())
    assert net.feature_dim == 128
    assert all(torch.equal(a, b) for a, b in zip(alone.parameters(), net.backbone.parameters(), strict=True))


def test_the_weights_come_from_the_generator_alone():
    state = torch.get_rng_state()
    first, second = (backbones.get("tiny", (8,), project=5, generator=torch.Generator().manual_seed(4)) for _ in "ab")
    other = backbones.get("tiny", (8,), project=5, generator=torch.Generator().manual_seed(5))
    assert torch.equal(first.projection.weight, second.projection.weight)
    assert not torch.equal(first.projection.weight, other.projection.weight)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("size", [0, -3, 2.5, "wide"])
def test_refuses_a_size_that_is_none(size):
    with pytest.raises(InputError, match="project"):
        backbones.get("tiny", (8,), project=size)

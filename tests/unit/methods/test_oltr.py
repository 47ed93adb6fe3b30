"""Mirror of src/anchored/methods/oltr.py: attention pixel by pixel, the memory, its loss, the two stages."""

import math

import pytest
import torch
from tests.builders import build_context
from torch import nn

from anchored import InputError, backbones
from anchored.losses import CrossEntropy
from anchored.methods import BuildContext, make_procedure, parse
from anchored.methods.oltr import MemoryLoss, ModulatedAttention, OpenLongTail, Recalled, remember

K = 4


def given(backbone="cnn4", shape=(1, 8, 8), **settings):
    return build_context("oltr", backbone, shape, **settings)


def second_stage(plan):
    """The network as it enters the second stage, in double precision and evaluation mode."""
    network = plan.network()
    plan.stages()[1].enter(network)
    return network.double().eval()


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def attended_by_hand(layer, maps):
    """Every pixel looks at every pixel; one loop per pixel."""
    channels, height, width = maps.shape
    pixels = [maps[:, i, j] for i in range(height) for j in range(width)]
    query, key, value = (
        [part.weight[:, :, 0, 0] @ p + part.bias for p in pixels] for part in (layer.query, layer.key, layer.value)
    )
    weights = (layer.spatial.weight @ maps.flatten() + layer.spatial.bias).softmax(dim=0)
    out = []
    for i, pixel in enumerate(pixels):
        shares = torch.stack([query[i] @ key[j] for j in range(len(pixels))]).softmax(dim=0)
        seen = sum(share * value[j] for j, share in enumerate(shares))
        out.append(pixel + weights[i] * (layer.back.weight[:, :, 0, 0] @ seen))
    return torch.stack(out, dim=1).view(channels, height, width)


@pytest.mark.parametrize("shape", [(6, 3, 4), (5, 1, 1)])
def test_attention_agrees_with_one_loop_per_pixel(shape):
    layer = ModulatedAttention(*shape).double()
    maps = normal(2, *shape)
    with torch.no_grad():
        for i in range(2):
            torch.testing.assert_close(layer(maps)[i], attended_by_hand(layer, maps[i]))


@pytest.mark.parametrize(
    ("backbone", "shape", "maps"),
    [
        ("tiny", (6,), (32, 1, 1)),
        ("mlp", (6,), (128, 1, 1)),
        ("cnn4", (1, 8, 8), (64, 2, 2)),
        ("resnet32", (3, 8, 8), (64, 2, 2)),
    ],
)
def test_the_second_stage_begins_with_the_features_of_the_first(backbone, shape, maps):
    plan = make_procedure(given(backbone, shape))
    network, x = plan.network().eval(), torch.randn(3, *shape, generator=torch.Generator().manual_seed(0))
    before, head = network.features(x), network.head
    plan.stages()[1].enter(network)
    assert torch.equal(network.eval().features(x), before)
    assert network.head.recall is head, "the first classifier asks the memory"
    assert network.attention.spatial.out_features == maps[1] * maps[2]
    assert network.attention.query.in_channels == maps[0]


def test_a_module_of_the_users_own_has_maps_of_one_pixel():
    module = backbones.wrap(nn.Sequential(nn.Flatten(), nn.Linear(12, 5)), (3, 2, 2))
    plan = make_procedure(BuildContext(method=parse("oltr"), backbone=lambda: module, counts=torch.tensor([9, 3])))
    assert second_stage(plan)(normal(4, 3, 2, 2)).shape == (4, 2)


class Seen:
    """Evidence that is known."""

    def __init__(self, features, labels):
        self.given = features, labels

    def features(self, part):
        assert part == "train"
        return self.given


def test_the_memory_begins_with_the_means_of_the_classes():
    network = second_stage(make_procedure(given()))
    features, labels = normal(30, 128), torch.arange(30) % 7 % K
    remember(network, Seen(features, labels))
    for j in range(K):
        torch.testing.assert_close(network.head.centroids[j], features[labels == j].mean(dim=0))


def test_in_training_the_distances_to_the_centroids_come_along():
    network = second_stage(make_procedure(given("tiny", (6,))))
    x = normal(3, 6)
    assert network(x).shape == (3, K)
    outputs = network.train()(x)
    expected = torch.cdist(network.features(x), network.head.centroids).square()
    torch.testing.assert_close(outputs.distances, expected)
    outputs.distances.sum().backward()
    assert network.head.centroids.grad.abs().sum() > 0


@pytest.mark.parametrize("spread", [1.0, 5.0])  # within the margin, and beyond it
def test_the_loss_of_the_centroids_is_the_published_one(spread):
    features, centroids, labels = normal(6, 3), spread * normal(K, 3, seed=1), torch.tensor([0, 1, 2, 3, 0, 0])
    logits = normal(6, K, seed=2)
    squares = [[math.dist(v, c) ** 2 for c in centroids.tolist()] for v in features.tolist()]
    pull = sum(squares[i][y] for i, y in enumerate(labels.tolist())) / 2 / 6
    others = sum(squares[i][j] for i, y in enumerate(labels.tolist()) for j in range(K) if j != y) / (6 * K)
    assert (others < 10) == (spread == 1.0)
    expected = CrossEntropy()(logits, labels) + 0.01 * (pull + 0.01 * max(0.0, 10 - others))
    outputs = Recalled(logits, torch.tensor(squares, dtype=torch.float64))
    torch.testing.assert_close(MemoryLoss().pointwise(outputs, labels).mean(), expected)


def test_features_and_centroids_learn_at_a_tenth_of_the_rate():
    plan = make_procedure(given())
    network = second_stage(plan)
    groups = plan.stages()[1].groups(network)
    assert [group.factor for group in groups] == [0.1, 1.0, 0.1]
    trained = [parameter for group in groups for parameter in group.parameters]
    assert {id(parameter) for parameter in trained} == {id(parameter) for parameter in network.parameters()}
    assert len(trained) == len(list(network.parameters())), "none twice"
    assert list(groups[2].parameters) == [network.head.centroids]


def test_the_stages_are_plain_training_and_balanced_batches():
    first, second = make_procedure(given()).stages()
    assert isinstance(first.loss, CrossEntropy)
    assert (first.sampling, second.sampling, second.settings) == ("instance", "balanced", "second")


@pytest.mark.parametrize("name", ["scale", "reach", "memory_weight", "repulsion", "margin", "feature_lr", "memory_lr"])
def test_refuses_settings_without_sense(name):
    with pytest.raises(InputError, match=f"{name} must lie in"):
        OpenLongTail.Options(**{name: -1.0})

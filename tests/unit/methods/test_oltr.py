"""Mirror of src/anchored/methods/oltr.py: attention pixel by pixel, the embedding in plain numbers, memory, loss."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from anchored import InputError, backbones
from anchored._random import stream
from anchored.heads import LinearHead
from anchored.losses import CrossEntropy
from anchored.methods import Given, parse, procedure
from anchored.methods.oltr import MemoryHead, MemoryLoss, ModulatedAttention, OpenLongTail, Recalled, remember

K = 4


def given(backbone="cnn4", shape=(1, 8, 8), **settings):
    return Given(
        method=parse("oltr"),
        backbone=lambda: backbones.get(backbone, shape, generator=stream(0, "init")),
        counts=torch.tensor([40, 20, 10, 5]),
        **settings,
    )


def second_stage(plan):
    """The network as it enters the second stage, in double precision and evaluation mode."""
    network = plan.network()
    plan.stages()[1].enter(network)
    return network.double().eval()


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def memory_head(d=6):
    head = MemoryHead(LinearHead(d, K)).double()
    with torch.no_grad():
        head.centroids.copy_(normal(K, d, seed=1))
    return head


def linear(layer, vector):
    rows, offsets = layer.weight.tolist(), layer.bias.tolist()
    return [sum(a * b for a, b in zip(row, vector, strict=True)) + c for row, c in zip(rows, offsets, strict=True)]


def softmax(values):
    powers = [math.exp(value - max(values)) for value in values]
    return [power / sum(powers) for power in powers]


def embedded(head, v):
    """The published meta-embedding of one feature, in plain numbers."""
    centroids = head.centroids.tolist()
    nearest = min(math.dist(v, c) for c in centroids)
    shares = softmax(linear(head.recall, v))
    memory = [sum(share * c[i] for share, c in zip(shares, centroids, strict=True)) for i in range(len(v))]
    chosen = [math.tanh(s) * m for s, m in zip(linear(head.select, v), memory, strict=True)]
    return [10 / nearest * (a + b) for a, b in zip(v, chosen, strict=True)]


def test_the_embedding_and_the_logits_agree_with_the_formulas():
    head, features = memory_head(), normal(5, 6)
    logits = head(features).detach()
    for i, v in enumerate(features.tolist()):
        u = embedded(head, v)
        length = math.hypot(*u)
        for j, w in enumerate(head.weight.tolist()):
            cosine = sum(a * b for a, b in zip(u, w, strict=True)) / length / math.hypot(*w)
            assert float(logits[i, j]) == pytest.approx(16 * length / (1 + length) * cosine, abs=1e-9)


def test_a_feature_on_its_centroid_is_reached_without_end_and_stays_finite():
    head = memory_head()
    features = head.centroids.detach().clone().requires_grad_()
    logits = head(features)
    logits.sum().backward()
    assert torch.isfinite(logits).all()
    assert torch.isfinite(features.grad).all()
    embedding = head.embedding(features.detach())
    torch.testing.assert_close(
        logits, 16 * F.cosine_similarity(embedding[:, None], head.weight, dim=2), atol=1e-2, rtol=0
    )


def test_logits_do_not_move_the_centroids():
    head = memory_head()
    head(normal(5, 6)).square().sum().backward()
    assert head.centroids.grad is None
    assert head.recall.weight.grad.abs().sum() > 0


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
    plan = procedure(given(backbone, shape))
    network, x = plan.network().eval(), torch.randn(3, *shape, generator=torch.Generator().manual_seed(0))
    before, head = network.features(x), network.head
    plan.stages()[1].enter(network)
    assert torch.equal(network.eval().features(x), before)
    assert network.head.recall is head, "the first classifier asks the memory"
    assert network.attention.spatial.out_features == maps[1] * maps[2]
    assert network.attention.query.in_channels == maps[0]


def test_a_module_of_the_users_own_has_maps_of_one_pixel():
    module = backbones.wrap(nn.Sequential(nn.Flatten(), nn.Linear(12, 5)), (3, 2, 2))
    plan = procedure(Given(method=parse("oltr"), backbone=lambda: module, counts=torch.tensor([9, 3])))
    assert second_stage(plan)(normal(4, 3, 2, 2)).shape == (4, 2)


class Seen:
    """Evidence that is known."""

    def __init__(self, features, labels):
        self.given = features, labels

    def features(self, part):
        assert part == "train"
        return self.given


def test_the_memory_begins_with_the_means_of_the_classes():
    network = second_stage(procedure(given()))
    features, labels = normal(30, 128), torch.arange(30) % 7 % K
    remember(network, Seen(features, labels))
    for j in range(K):
        torch.testing.assert_close(network.head.centroids[j], features[labels == j].mean(dim=0))


def test_in_training_the_distances_to_the_centroids_come_along():
    network = second_stage(procedure(given("tiny", (6,))))
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
    plan = procedure(given())
    network = second_stage(plan)
    groups = plan.stages()[1].groups(network)
    assert [group.factor for group in groups] == [0.1, 1.0, 0.1]
    trained = [parameter for group in groups for parameter in group.parameters]
    assert {id(parameter) for parameter in trained} == {id(parameter) for parameter in network.parameters()}
    assert len(trained) == len(list(network.parameters())), "none twice"
    assert list(groups[2].parameters) == [network.head.centroids]


def test_the_stages_are_plain_training_and_balanced_batches():
    first, second = procedure(given()).stages()
    assert isinstance(first.loss, CrossEntropy)
    assert (first.sampling, second.sampling, second.second) == ("instance", "balanced", True)


@pytest.mark.parametrize("name", ["scale", "reach", "memory_weight", "repulsion", "margin", "feature_lr", "memory_lr"])
def test_refuses_settings_without_sense(name):
    with pytest.raises(InputError, match=f"{name} must lie in"):
        OpenLongTail.Options(**{name: -1.0})

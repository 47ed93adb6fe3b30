"""Mirror of src/anchored/heads/memory.py: the embedding in plain numbers, its limit, what moves the centroids."""

import math

import pytest
import torch
import torch.nn.functional as F

from anchored.heads import LinearHead, MemoryHead

K = 4


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


def test_distances_are_squared_and_move_the_centroids():
    head, features = memory_head(), normal(5, 6)
    distances = head.distances(features)
    torch.testing.assert_close(distances, torch.cdist(features, head.centroids).square())
    distances.sum().backward()
    assert head.centroids.grad.abs().sum() > 0


def test_weights_are_drawn_from_the_generator_alone():
    def weights(seed):
        return MemoryHead(LinearHead(6, K), generator=torch.Generator().manual_seed(seed)).state_dict()

    before = torch.get_rng_state()
    one, same, other = weights(0), weights(0), weights(1)
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(one[key], same[key]) for key in one)
    for key in ("select.weight", "select.bias", "weight"):
        assert not torch.equal(one[key], other[key])
        assert one[key].abs().max() <= 1 / math.sqrt(6) + 1e-6

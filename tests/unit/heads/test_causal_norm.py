"""Mirror of src/anchored/heads/causal_norm.py: both formulas in plain numbers, the limits, the moving direction."""

import math

import pytest
import torch
import torch.nn.functional as F

from anchored.heads import CausalNormHead

K = 4


def features(n=7, d=10, seed=0):
    return torch.rand(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def head(d=10, **settings):
    return CausalNormHead(d, K, **settings).double()


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def norm(a):
    return math.sqrt(dot(a, a))


def by_hand(layer, x, *, alpha, parts):
    """The published formulas with one loop per sample, class and part."""
    weight, direction = layer.weight.tolist(), layer.direction.tolist()
    size = len(direction) // parts
    out = []
    for z in x.tolist():
        row = []
        for w in weight:
            total = 0.0
            for h in range(parts):
                place = slice(h * size, (h + 1) * size)
                zh, wh, dh = z[place], w[place], direction[place]
                own = [v / norm(zh) for v in zh]
                if alpha:
                    cosine = dot(zh, dh) / norm(zh) / norm(dh)
                    own = [v - alpha * cosine * c / norm(dh) for v, c in zip(own, dh, strict=True)]
                total += dot(own, [v / (norm(wh) + 1 / 32) for v in wh])
            row.append(16 / parts * total)
        out.append(row)
    return torch.tensor(out, dtype=torch.float64)


@pytest.mark.parametrize("parts", [1, 2, 5])
def test_training_and_testing_agree_with_the_formulas(parts):
    layer, x = head(parts=parts), features()
    torch.testing.assert_close(layer.train()(x), by_hand(layer, x, alpha=0.0, parts=parts))
    torch.testing.assert_close(layer.eval()(x), by_hand(layer, x, alpha=1.5, parts=parts))


def test_with_nothing_removed_testing_is_training():
    layer, x = head(alpha=0.0), features()
    in_training = layer.train()(x)
    torch.testing.assert_close(layer.eval()(x), in_training)


def test_before_training_there_is_nothing_to_remove():
    layer, x = head(), features()
    torch.testing.assert_close(layer.eval()(x), by_hand(layer, x, alpha=0.0, parts=2))


def test_one_part_without_gamma_is_a_cosine():
    layer, x = head(parts=1, gamma=0.0, alpha=0.0), features()
    torch.testing.assert_close(layer(x), 16 * F.normalize(x, dim=1) @ F.normalize(layer.weight, dim=1).T)


def test_removed_once_features_are_orthogonal_to_the_direction():
    layer, x = head(alpha=1.0), features()
    layer.train()(x)
    left = layer.removed(features(seed=1), alpha=1.0)
    assert layer.parts
    for part in layer.parts:
        torch.testing.assert_close(left[:, part] @ layer.direction[part], torch.zeros(7).double())


def test_the_direction_follows_the_means_of_the_batches_in_training_only():
    layer = head(momentum=0.9)
    batches = [features(seed=seed) for seed in range(3)]
    for batch in batches:
        layer.train()(batch)
    expected = 0.81 * batches[0].mean(0) + 0.9 * batches[1].mean(0) + batches[2].mean(0)
    torch.testing.assert_close(layer.direction, expected)
    layer.eval()(features(seed=9))
    torch.testing.assert_close(layer.direction, expected)
    assert "direction" in layer.state_dict()
    assert [name for name, _ in layer.named_parameters()] == ["weight"]


def test_features_that_parts_do_not_divide_are_cut_as_evenly_as_can_be():
    layer = head(d=11, parts=3)
    lengths = [part.stop - part.start for part in layer.parts]
    assert sorted(lengths) == [3, 4, 4]
    assert layer.train()(features(d=11)).shape == (7, K)


def test_a_part_of_zeros_says_nothing():
    layer, x = head(), features()
    x[:, :5] = 0
    layer.train()(x)
    assert torch.isfinite(layer.eval()(x)).all()

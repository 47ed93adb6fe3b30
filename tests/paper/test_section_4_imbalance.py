"""Section 4.1: with anchored prototypes every sample goes to its prototype, however rare its class."""

import pytest
import torch
import torch.nn.functional as F

from anchored.losses import MarginSoftmax
from anchored.prototypes import simplex
from anchored.theory import loss_floor, max_margin

COUNTS = (40, 10, 3, 1)
Y = torch.arange(4).repeat_interleave(torch.tensor(COUNTS))


@pytest.mark.parametrize("d", [3, 6])
@pytest.mark.parametrize("subtracted", [(0, 0, 0, 0), (0.125, 0.25, 0.5, 0.75), (-0.125, -0.25, -0.5, -0.75)])
def test_theorem_4_1_imbalanced_descent_on_anchors_ends_on_the_prototypes(d, subtracted, normal, descend, margins):
    w, u, scale = simplex(4, d, dtype=torch.float64), normal(len(Y), d), 3.0
    loss = MarginSoftmax(subtracted, scale=scale)
    value = descend(lambda: loss(F.normalize(u, dim=1) @ w.T, Y), u)
    z = F.normalize(u, dim=1).detach()
    floor = sum(n * loss_floor(4, scale, -scale * m) for n, m in zip(COUNTS, subtracted, strict=True)) / len(Y)
    assert value == pytest.approx(floor, rel=1e-9)
    torch.testing.assert_close(z, w[Y], atol=1e-4, rtol=0)
    assert margins(w, z, Y).min().item() == pytest.approx(max_margin(4), abs=1e-4)


def test_theorem_4_1_the_floor_bounds_every_feature(normal):
    w = simplex(4, 6, dtype=torch.float64)
    z = F.normalize(normal(5000, 6), dim=1)
    for y in range(4):
        logits = 3 * z @ w.T
        logits = logits + 0.7 * F.one_hot(torch.full((5000,), y), 4)
        assert F.cross_entropy(logits, torch.full((5000,), y), reduction="none").min() >= loss_floor(4, 3.0, 0.7)


@pytest.mark.parametrize("B", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("d", [3, 6])
def test_theorem_4_2_softmax_loss_in_a_ball_ends_on_the_scaled_prototypes(B, d, normal, margins):
    w = simplex(4, d, dtype=torch.float64)
    z = ahead = normal(len(Y), d).detach()
    for step in range(1000):  # accelerated projected descent: the loss is convex in z, and so is the ball
        slope = ((ahead @ w.T).softmax(dim=1) - F.one_hot(Y, 4)) @ w
        before, z = z, ahead - slope
        z = z * (B / z.norm(dim=1, keepdim=True).clamp(min=B))
        ahead = z + step / (step + 3) * (z - before)
    torch.testing.assert_close(z, B * w[Y], atol=1e-5, rtol=0)
    assert margins(w, z, Y).min().item() == pytest.approx(max_margin(4, B), abs=1e-6)
    assert F.cross_entropy(z @ w.T, Y).item() == pytest.approx(loss_floor(4, B), rel=1e-9)


def test_theorem_4_2_needs_the_bound_on_the_norm():
    w = simplex(4, 6, dtype=torch.float64)
    losses = [F.cross_entropy(norm * w @ w.T, torch.arange(4)).item() for norm in (1, 4, 16, 64)]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 1e-30  # it falls for ever: without the bound there is no minimiser

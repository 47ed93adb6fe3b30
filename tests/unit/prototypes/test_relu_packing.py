"""Mirror of src/anchored/prototypes/_relu_packing.py: the margins it reaches, and its gradient."""

import math

import pytest
import torch

from anchored.prototypes import _relu_packing, packing, paper, reachable_margin


def test_hundred_classes_in_64_dimensions_beat_the_paper_s_use_relu():
    """The published generator's use_relu has 0.530 for its worst class and 0.632 on average after 60,000 steps."""
    margins = reachable_margin(packing(100, 64, nonnegative=True))
    assert margins.min() > 0.85
    assert margins.mean() > 0.85


@pytest.mark.slow
def test_the_paper_s_use_relu_is_what_it_is_compared_with():
    margins = reachable_margin(paper(100, 64, use_relu=True, steps=60_000))
    assert 0.4 < margins.min() < 0.6
    assert 0.55 < margins.mean() < 0.7


def test_two_dimensions_with_three_classes_reach_the_optimum_of_a_grid():
    """In the plane the worst class is one of three angles; a fine grid over symmetric sets bounds the answer."""
    grid = torch.linspace(0, math.pi / 2, 19, dtype=torch.float64)
    best = 0.0
    for outer in torch.linspace(-math.pi / 2, math.pi / 2, 37, dtype=torch.float64):
        angles = torch.stack([outer, torch.tensor(math.pi / 4), math.pi / 2 - outer])
        w = torch.stack([angles.cos(), angles.sin()], dim=1)
        z = torch.stack([grid.cos(), grid.sin()], dim=1)
        scores = z @ w.T
        margins = [(scores[:, y] - scores[:, [j for j in range(3) if j != y]].amax(dim=1)).max() for y in range(3)]
        best = max(best, float(min(margins)))
    assert reachable_margin(packing(3, 2, nonnegative=True)).min() >= best - 1e-3


@pytest.mark.parametrize("entries", [1 << 21, 20])
def test_value_and_gradient_agree_with_autograd_over_all_pairs(entries, monkeypatch):
    blocks = _relu_packing.row_blocks
    monkeypatch.setattr(_relu_packing, "row_blocks", lambda k, restarts: blocks(k, restarts, entries))
    k = 5
    x = torch.randn(2, 2 * k, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64, requires_grad=True)
    values = []
    for w, u in zip(x[:, :k], x[:, k:], strict=True):
        z = u**2 / (u**2).norm(dim=1, keepdim=True)
        gaps = [z[i] @ w[j] - z[i] @ w[i] for i in range(k) for j in range(k) if i != j]
        values.append((7.0 * torch.stack(gaps)).logsumexp(dim=0) / 7)
    expected = torch.stack(values)
    (gradient,) = torch.autograd.grad(expected.sum(), x)
    value, by_hand = _relu_packing.soft_min_margin(x.detach(), 7.0)
    torch.testing.assert_close(value, expected.detach())
    torch.testing.assert_close(by_hand, gradient)

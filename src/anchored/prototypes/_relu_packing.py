r"""Prototypes for features z >= 0 if k > d: the smallest margin :math:`(w_i - w_j) \cdot z_i` is made large.

Prototypes w_i and one unit feature z_i >= 0 for each are moved together, as in the paper's ``use_relu``, but the worst
pair counts instead of the mean, and :math:`z = u^2 / \|u^2\|` replaces :math:`z = \max(u, 0)`: an entry that a ReLU has
set to zero has no gradient and would stay zero.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from anchored.prototypes._anneal import anneal, effort, row_blocks, without_diagonal

__all__ = ["relu_packing", "soft_min_margin"]


def relu_packing(k: int, d: int, generator: torch.Generator) -> Tensor:
    r"""Return prototypes that maximise :math:`\min_{i \ne j} (w_i - w_j) \cdot z_i`, found by annealing.

    Args:
        k: Number of classes.
        d: Number of features.
        generator: Source of the starting points.

    Returns:
        Unit rows ``(k, d)``, float64.
    """
    # Twice as many rows as in a signed packing, and a third matrix product.
    plan = replace(effort(k, 3 * d), first=32.0)
    u = torch.randn(plan.restarts, k, d, generator=generator, dtype=torch.float64, device=generator.device).cpu()
    z = u.square()
    start = torch.cat([z - z.mean(dim=1, keepdim=True), u], dim=1)
    return anneal(soft_min_margin, start, plan)[:k].contiguous()


def soft_min_margin(x: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    r"""Return the soft maximum of minus the margins, and its gradient.

    .. math::  \frac1s \log \sum_{i \ne j} e^{-s\, (w_i - w_j) \cdot z_i}, \qquad z_i = u_i^2 / \|u_i^2\| .

    Args:
        x: Unit rows ``(r, 2k, d)`` of r problems: k prototypes, then the k vectors u whose squares give the features.
        scale: The factor s.

    Returns:
        Values ``(r,)`` and gradients ``(r, 2k, d)``.

    Example:
        >>> x = torch.eye(2, dtype=torch.float64).repeat(2, 1)[None]       # w = z = the two axes: both margins are 1
        >>> soft_min_margin(x, 1e6)[0]
        tensor([-1.0000], dtype=torch.float64)
    """
    restarts, k = x.shape[0], x.shape[1] // 2
    w, u = x[:, :k], x[:, k:]
    square = u.square()
    length = square.norm(dim=2, keepdim=True)
    z = square / length
    own = (z * w).sum(dim=2)
    row_value = torch.empty_like(own)
    towards_others = torch.empty_like(z)
    of_w = torch.zeros_like(w)
    top = torch.full_like(own[:, 0], -torch.inf)
    for rows in row_blocks(k, restarts):
        gaps = without_diagonal(z[:, rows] @ w.mT, rows).sub_(own[:, rows, None]).mul_(scale)
        row_value[:, rows] = gaps.logsumexp(dim=2)
        share = gaps.sub_(row_value[:, rows, None]).exp_()
        towards_others[:, rows] = share @ w
        # The weight of a row is relative to all rows, of which later blocks are not known yet: keep the sum
        # relative to the largest so far, and rescale it when that grows.
        higher = torch.maximum(top, row_value[:, rows].amax(dim=1))
        weighted = z[:, rows] * (row_value[:, rows] - higher[:, None]).exp()[:, :, None]
        of_w.mul_((top - higher).exp()[:, None, None]).add_(share.mT @ weighted)
        top = higher
    value = row_value.logsumexp(dim=1)
    weight = (row_value - value[:, None]).exp()[:, :, None]
    of_w = of_w * (top - value).exp()[:, None, None] - weight * z
    of_z = weight * (towards_others - w)
    of_square = (of_z - (of_z * z).sum(dim=2, keepdim=True) * z) / length
    return value / scale, torch.cat([of_w, 2 * u * of_square], dim=1)

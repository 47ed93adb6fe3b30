r"""Spherical codes: k unit vectors whose largest cosine is as small as possible, for any k and d.

Up to k = 2d the optimum is known in closed form. Beyond, the soft maximum of the cosines
:math:`\frac1s \log \sum_{i \ne j} e^{s\, w_i \cdot w_j}` (the paper's :math:`L_\alpha` with z = w, all pairs
under one logarithm) is annealed in s. For features that are never negative another quantity matters; see
:mod:`anchored.prototypes._relu_packing`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored._random import generator_or_default
from anchored.prototypes._anneal import anneal, effort, row_blocks, without_diagonal
from anchored.prototypes._direct_sum import direct_sum
from anchored.prototypes._relu_packing import relu_packing
from anchored.prototypes._request import check_dtype, check_sizes
from anchored.prototypes._rotation import haar_frame
from anchored.prototypes._simplex import simplex

__all__ = ["packing", "soft_max_cosine"]

_SEARCHED = 20_000
"""Classes up to which a search ends within minutes."""


def packing(
    k: int,
    d: int,
    *,
    nonnegative: bool = False,
    generator: torch.Generator | None = None,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    r"""Return unit vectors that are as far apart as known methods can place them, for any k and d.

    For signed features the largest cosine :math:`\max_{i \ne j} w_i \cdot w_j` is made small: :func:`simplex` for
    k <= d + 1, :func:`direct_sum` for d + 2 <= k <= 2d, the regular polygon for d = 2, all of them optimal; a numerical
    search otherwise.

    With ``nonnegative=True`` the margin that a unit feature z >= 0 can have is made large,
    :math:`\min_y \max_{z \ge 0} \min_{j \ne y} (w_y - w_j) \cdot z`: the simplex on the orthant for k <= d, beyond it a
    search over the prototypes together with one z for each. The cosines of such prototypes are no longer the smallest.

    The search costs O(k² d) per step and O(k d) memory. It restarts small problems up to 64 times and runs
    large ones once, with fewer steps. Above 20,000 classes there is no search: directions are drawn at random, in
    opposite pairs, whose largest cosine is about :math:`\sqrt{4 \ln k / d}`; and half of each is reached by a
    feature that is never negative.

    Args:
        k: Number of classes, at least 2.
        d: Number of features, at least 1.
        nonnegative: Whether features have passed a ReLU.
        generator: Source of the starting points, or of the rotation of a closed form. None means seed 0.
        dtype: Data type of the result; the arithmetic is float64.

    Returns:
        Prototypes ``(k, d)``, rows of unit length.

    Example:
        >>> w = packing(12, 3, dtype=torch.float64)               # the icosahedron
        >>> round(float((w @ w.T - 2 * torch.eye(12)).max()), 6)
        0.447214
    """
    k, d = check_sizes(k, d)
    check_dtype(dtype)
    generator = generator_or_default(generator)
    if nonnegative:
        if d == 1:
            raise InputError(
                f"with d=1 the only unit feature z >= 0 is 1, so one class alone can win, got k={k}; "
                f"use d >= 2, or signed features"
            )
        if k <= d:
            return simplex(k, d, orientation="orthant", generator=generator, dtype=dtype)
        return (relu_packing(k, d, generator) if k <= _SEARCHED else _at_random(k, d, generator)).to(dtype)
    if k <= d + 1:
        return simplex(k, d, generator=generator, dtype=dtype)
    if k <= 2 * d:
        return direct_sum(k, d, generator=generator, dtype=dtype)
    if d == 2:
        return (_polygon(k) @ haar_frame(2, 2, generator).T).to(dtype)
    if k > _SEARCHED:
        return _at_random(k, d, generator).to(dtype)
    plan = effort(k, d)
    start = torch.randn(plan.restarts, k, d, generator=generator, dtype=torch.float64, device=generator.device).cpu()
    return anneal(soft_max_cosine, start, plan).to(dtype)


def soft_max_cosine(w: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    r"""Return the soft maximum of the cosines within each set of rows, and its gradient.

    .. math::  \frac1s \log \sum_{i \ne j} e^{s\, w_i \cdot w_j}.

    Args:
        w: Unit rows ``(r, k, d)`` of r sets.
        scale: The factor s.

    Returns:
        Values ``(r,)`` and gradients ``(r, k, d)``.

    Example:
        >>> pair = torch.tensor([[[1.0, 0.0], [0.6, 0.8]]], dtype=torch.float64)
        >>> soft_max_cosine(pair, 1e6)[0]
        tensor([0.6000], dtype=torch.float64)
    """
    restarts, k, _ = w.shape
    gradient = torch.empty_like(w)
    row_value = torch.empty_like(w[:, :, 0])
    for rows in row_blocks(k, restarts):
        cosines = without_diagonal(w[:, rows] @ w.mT, rows).mul_(scale)
        row_value[:, rows] = cosines.logsumexp(dim=2)
        gradient[:, rows] = cosines.sub_(row_value[:, rows, None]).exp_() @ w
    value = row_value.logsumexp(dim=1)
    # Each pair is counted from both its ends, hence the 2.
    return value / scale, gradient.mul_(2 * (row_value - value[:, None]).exp()[:, :, None])


def _at_random(k: int, d: int, generator: torch.Generator) -> Tensor:
    half = torch.randn((k + 1) // 2, d, generator=generator, dtype=torch.float64, device=generator.device).cpu()
    half /= half.norm(dim=1, keepdim=True)
    return torch.cat([half, -half])[:k]


def _polygon(k: int) -> Tensor:
    angle = torch.arange(k, dtype=torch.float64) * (2 * math.pi / k)
    return torch.stack([angle.cos(), angle.sin()], dim=1)

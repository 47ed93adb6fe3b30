r"""The Lipschitz constant of a sum over labels, by search: what a loss really reaches on given prototypes.

.. math::  \max_{\|z\| \le B} \|\nabla L_W(z)\|, \qquad L_W(z) = \sum_{i=1}^k L(W z, i).

The search is an ascent from many points at once, with projection onto the ball. The value is attained at the point that
is returned, so it is a lower bound of the constant, while the closed forms of ``theory.lipschitz`` are upper bounds. It
takes any loss and any prototypes, also those no formula exists for (k > d + 1, active plus passive losses).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from anchored._checks import check_integer
from anchored._errors import InputError
from anchored._random import generator_or_default
from anchored.theory._arguments import check_radius

__all__ = ["SteepestPoint", "lipschitz_search"]


class SteepestPoint(NamedTuple):
    """The point at which the sum over labels is steepest."""

    lipschitz: float
    """The norm of the gradient there."""
    z: Tensor
    """The feature vector ``(d,)``."""


def lipschitz_search(
    per_class: Callable[[Tensor], Tensor],
    prototypes: Tensor,
    B: float,
    *,
    starts: int = 64,
    steps: int = 200,
    generator: torch.Generator | None = None,
) -> SteepestPoint:
    r"""Search the ball of radius ``B`` for the point at which the sum of a loss over labels is steepest.

    .. math::  \max_{\|z\| \le B} \|\nabla L_W(z)\|, \qquad L_W(z) = \sum_{i=1}^k L(W z, i).

    Args:
        per_class: Maps logits ``(n, k)`` to the loss of each label ``(n, k)``: ``losses.CrossEntropy().per_class``.
        prototypes: Prototypes ``(k, d)``.
        B: Bound on the norm of the features.
        starts: Random starting points, besides ``±B`` times each prototype's direction.
        steps: Steps of ascent.
        generator: Source of the starting points. None means seed 0.

    Returns:
        The largest gradient norm found, and the feature vector at which it is reached.

    Example:
        >>> from anchored.prototypes import simplex
        >>> cross_entropy = lambda logits: -logits.log_softmax(dim=1)
        >>> round(lipschitz_search(cross_entropy, simplex(10, 16), B=1.0).lipschitz, 3)     # lipschitz_ce(10, 1.0)
        1.693
    """
    if prototypes.ndim != 2 or not prototypes.is_floating_point():
        raise InputError(
            f"prototypes must be a float matrix (k, d), got {prototypes.dtype} of shape {tuple(prototypes.shape)}"
        )
    B = check_radius("B", B)
    starts = check_integer("starts", starts, low=0)
    steps = check_integer("steps", steps, low=0)
    w = prototypes.detach().double()
    directions = torch.nn.functional.normalize(w, dim=1)
    inside = torch.randn(starts, w.shape[1], generator=generator_or_default(generator), dtype=w.dtype)
    # Radii from the whole ball: bounded losses are steepest well inside it.
    radii = B * torch.linspace(0, 1, starts, dtype=w.dtype)[:, None]
    z = torch.cat([B * directions, -B * directions, radii * torch.nn.functional.normalize(inside, dim=1)])
    best, uphill = steepness(per_class, w, z)
    pace = torch.full((len(z), 1), 0.1 * B, dtype=w.dtype)
    for _ in range(steps):
        trial = into_ball(z + pace * torch.nn.functional.normalize(uphill, dim=1), B)
        value, gradient = steepness(per_class, w, trial)
        better = value > best
        best = torch.where(better, value, best)
        z = torch.where(better[:, None], trial, z)
        uphill = torch.where(better[:, None], gradient, uphill)
        pace = torch.where(better[:, None], 1.3 * pace, 0.5 * pace)
    top = int(best.argmax())
    return SteepestPoint(float(best[top]), z[top].to(prototypes.dtype))


def into_ball(z: Tensor, B: float) -> Tensor:
    """Return the nearest points of norm at most ``B``.

    Args:
        z: Points ``(n, d)``.
        B: Radius of the ball.

    Returns:
        Points ``(n, d)``.

    Example:
        >>> into_ball(torch.tensor([[3.0, 4.0], [0.1, 0.0]]), 1.0)
        tensor([[0.6000, 0.8000],
                [0.1000, 0.0000]])
    """
    norm: Tensor = z.norm(dim=1, keepdim=True)
    return z * (B / norm.clamp(min=B))


def steepness(per_class: Callable[[Tensor], Tensor], w: Tensor, z: Tensor) -> tuple[Tensor, Tensor]:
    """Return the gradient norms of the sum over labels, and the gradients of these norms.

    Args:
        per_class: Maps logits ``(n, k)`` to the loss of each label ``(n, k)``.
        w: Prototypes ``(k, d)``.
        z: Points ``(n, d)``.

    Returns:
        Norms ``(n,)`` and their gradients ``(n, d)``.

    Example:
        >>> norm, _ = steepness(lambda logits: -logits, torch.eye(2), torch.zeros(1, 2))
        >>> norm                                                  # -(w_1 + w_2), wherever z is
        tensor([1.4142])
    """
    z = z.detach().requires_grad_()
    with torch.enable_grad():
        total = per_class(z @ w.T).sum()
        (slope,) = torch.autograd.grad(total, z, create_graph=True)
        norm = slope.norm(dim=1)
        if not norm.requires_grad:
            return norm.detach(), torch.zeros_like(z)
        (uphill,) = torch.autograd.grad(norm.sum(), z, allow_unused=True, materialize_grads=True)
    return norm.detach(), uphill.detach()

"""L-BFGS for many independent problems at once: every problem has its own curvature and its own step length.

torch.optim.LBFGS sees a batch of problems as one: a single step length, and curvature pairs that mix
unrelated problems. Here inner products and step lengths are per problem, so restarts neither slow nor steer each other.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor

__all__ = ["minimize"]

_Pair = tuple[Tensor, Tensor, Tensor]
"""A step s, the change y of the gradient along it, and 1 / (s . y), which is 0 if there is no pair yet."""


def minimize(
    objective: Callable[[Tensor], tuple[Tensor, Tensor]],
    x: Tensor,
    *,
    steps: int,
    memory: int = 10,
    tolerance: float = 0.0,
) -> Tensor:
    """Minimise many independent functions at once by L-BFGS, and return the points reached.

    Args:
        objective: Maps points ``(r, n)`` to values ``(r,)`` and gradients ``(r, n)``.
        x: Starting points ``(r, n)``, one per problem.
        steps: The number of evaluations of ``objective``, shared by all problems.
        memory: How many curvature pairs are kept.
        tolerance: Stop if no problem has improved by more than this over the last ten evaluations.

    Returns:
        Points ``(r, n)``, none of them worse than where it started.

    Example:
        >>> bowl = lambda x: ((x**2).sum(dim=1), 2 * x)
        >>> minimize(bowl, torch.tensor([[3.0, 4.0], [1.0, 0.0]]), steps=5).abs().max() < 1e-6
        tensor(True)
    """
    value, gradient = objective(x)
    nothing = torch.zeros_like(x)
    pairs: list[_Pair] = [(nothing, nothing, torch.zeros_like(value))] * memory
    direction = -gradient / gradient.norm(dim=1, keepdim=True).clamp(min=1e-300)
    slope = _dot(direction, gradient)
    length = torch.full_like(value, 0.1)
    before = value
    for step in range(1, steps):
        trial = x + length[:, None] * direction
        trial_value, trial_gradient = objective(trial)
        accepted = trial_value <= value + 1e-4 * length * slope
        pair_s = torch.where(accepted[:, None], trial - x, 0.0)
        pair_y = torch.where(accepted[:, None], trial_gradient - gradient, 0.0)
        x = x + pair_s
        gradient = gradient + pair_y
        # A rejected step is cut to the minimum of the parabola through what is known, within [0.1, 0.5] of it.
        parabola = -slope * length**2 / (2 * (trial_value - value - slope * length))
        shorter = torch.minimum(torch.maximum(parabola, 0.1 * length), 0.5 * length)
        value = torch.where(accepted, trial_value, value)
        pairs = _remember(pairs, pair_s, pair_y)
        proposal = -_newton(gradient, pairs)
        proposal_slope = _dot(proposal, gradient)
        downhill = (proposal_slope < 0)[:, None]
        proposal = torch.where(downhill, proposal, -gradient)
        direction = torch.where(accepted[:, None], proposal, direction)
        slope = torch.where(accepted, _dot(proposal, gradient), slope)
        length = torch.where(accepted, 1.0, shorter)
        if step % 10 == 0:
            if (before - value).max() <= tolerance:
                break
            before = value
    return x


def _remember(pairs: list[_Pair], s: Tensor, y: Tensor) -> list[_Pair]:
    """Append the newest pair; a problem whose step was rejected or not convex keeps the pairs it has."""
    curvature = _dot(s, y)
    usable = curvature > 1e-10 * y.norm(dim=1) * s.norm(dim=1)
    if not usable.any():
        return pairs
    longer = [*pairs, (s, y, 1 / curvature)]
    if usable.all():
        return longer[1:]
    row = usable[:, None]
    return [
        (torch.where(row, new_s, old_s), torch.where(row, new_y, old_y), torch.where(usable, new_rho, old_rho))
        for (old_s, old_y, old_rho), (new_s, new_y, new_rho) in pairwise(longer)
    ]


def _newton(gradient: Tensor, pairs: list[_Pair]) -> Tensor:
    """Return the gradient times the inverse Hessian that the pairs describe (the two-loop recursion)."""
    q = gradient
    weights = []
    for s, y, rho in reversed(pairs):
        a = rho * _dot(s, q)
        weights.append(a)
        q = q - a[:, None] * y
    # The newest pair sets the scale of the model that the others correct.
    _, y, rho = pairs[-1]
    q = q * torch.where(rho > 0, 1 / (rho * _dot(y, y)), 1.0)[:, None]
    for (s, y, rho), a in zip(pairs, reversed(weights), strict=True):
        q = q + (a - rho * _dot(y, q))[:, None] * s
    return q


def _dot(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(dim=1)

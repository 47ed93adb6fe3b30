r"""Minimise a largest value over unit vectors: :math:`\frac1s \log \sum_p e^{s v_p} \to \max_p v_p` as s grows.

At a small scale s all pairs count, which leads away from poor local minima; at a large one only the worst pair does.
With n pairs the soft maximum lies at most :math:`\log(n)/s` above the true one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize

from anchored.prototypes._lbfgs import minimize

__all__ = ["Effort", "SoftMaximum", "anneal", "effort", "row_blocks", "without_diagonal"]

SoftMaximum = Callable[[Tensor, float], tuple[Tensor, Tensor]]
"""From unit rows ``(r, m, d)`` of r restarts and a scale to values ``(r,)`` and gradients ``(r, m, d)``."""

_SIEVE = 128.0
"""The scale at which three quarters of the restarts are given up: by then the basins are settled."""


@dataclass(frozen=True)
class Effort:
    """How long to search: small problems are solved to the end, large ones must stop in time."""

    restarts: int
    steps: int
    """Evaluations at each scale."""
    first: float
    last: float
    """The scales, both powers of two."""


def effort(k: int, d: int) -> Effort:
    """Return the effort for k rows in d dimensions; one evaluation costs about ``k² d`` operations.

    Args:
        k: Number of rows.
        d: Number of dimensions.

    Returns:
        Restarts, steps per scale, and the first and last scale.

    Example:
        >>> effort(10, 3)
        Effort(restarts=64, steps=100, first=4.0, last=262144.0)
        >>> effort(1000, 256)
        Effort(restarts=1, steps=23, first=16.0, last=16384.0)
    """
    cost = k * k * d
    restarts = max(1, min(64, 3_600_000 // cost))
    steps = max(10, min(100, 6_000_000_000 // cost))
    # In many dimensions cosines are small, and a scale of 4 would hardly tell them apart.
    return Effort(restarts, steps, 4.0, 2.0**18) if restarts > 1 else Effort(1, steps, 16.0, 2.0**14)


def anneal(objective: SoftMaximum, start: Tensor, effort: Effort) -> Tensor:
    r"""Return the best rows ``(m, d)`` that any restart reaches, in float64.

    It minimises :math:`\frac1s \log \sum_p e^{s v_p}` at scales s that double from the first to the last.

    Args:
        objective: The soft maximum to minimise.
        start: Rows ``(r, m, d)`` of r restarts, of any length but zero.
        effort: The scales and the steps at each.

    Returns:
        Unit rows ``(m, d)``.
    """
    x, scale = start, effort.first
    while scale <= effort.last:
        x = _descend(objective, normalize(x, dim=2), scale, effort.steps)
        if scale == _SIEVE:
            x = x[objective(normalize(x, dim=2), scale)[0].argsort(stable=True)[: -(-len(x) // 4)]]
        scale *= 2
    x = normalize(x, dim=2)
    # At this scale nothing but the largest value counts.
    return x[objective(x, 1e9)[0].argmin()]


def _descend(objective: SoftMaximum, x: Tensor, scale: float, steps: int) -> Tensor:
    """Minimise at one scale, in free coordinates: rows may grow, only their directions matter."""
    shape = x.shape

    def free(flat: Tensor) -> tuple[Tensor, Tensor]:
        rows = flat.view(shape)
        length = rows.norm(dim=2, keepdim=True)
        unit = rows / length
        value, gradient = objective(unit, scale)
        tangent = gradient - (gradient * unit).sum(dim=2, keepdim=True) * unit
        return value, (tangent / length).flatten(1)

    # Gains far below log(n)/s are noise of the smoothing.
    return minimize(free, x.flatten(1), steps=steps, tolerance=1e-5 / scale).view(shape)


def row_blocks(k: int, restarts: int, entries: int = 1 << 21) -> list[slice]:
    """Return slices of ``0..k-1`` for which ``(restarts, block, k)`` has about ``entries`` numbers.

    So the memory stays proportional to ``block * k`` instead of ``k * k``.

    Args:
        k: Number of rows.
        restarts: Number of problems that are solved at once.
        entries: Numbers to hold at a time.

    Returns:
        Consecutive slices that cover ``0..k-1``.

    Example:
        >>> row_blocks(5, 1, entries=10)
        [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    block = max(1, entries // (restarts * k))
    return [slice(start, min(start + block, k)) for start in range(0, k, block)]


def without_diagonal(products: Tensor, rows: slice) -> Tensor:
    """Set the products of a row with itself to -inf, in place.

    Args:
        products: Products ``(r, rows, k)`` of some rows with all k.
        rows: Which of the k rows these are.

    Returns:
        The same tensor.
    """
    products[:, :, rows].diagonal(dim1=1, dim2=2).fill_(-torch.inf)
    return products

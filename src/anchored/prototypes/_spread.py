r"""Prototypes spread by descent, as hyperspherical prototype networks do: each away from its nearest neighbour.

.. math::  \min_W \frac1k \sum_i \max_{j \ne i} \mathbf w_i^\top \mathbf w_j

by plain gradient steps from a random start, back on the sphere after each. The dimension is free.

References:
    Mettes, van der Pol and Snoek, 2019. Hyperspherical Prototype Networks. NeurIPS.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from anchored._random import generator_or_default

__all__ = ["spread"]

_GAIN, _PATIENCE = 1e-4, 500
"""A gain worth going on for, and the number of steps after which none is to be expected."""


def spread(
    k: int, d: int, *, steps: int = 10_000, learning_rate: float = 0.1, generator: torch.Generator | None = None
) -> Tensor:
    r"""Spread unit vectors by descent on the mean of the largest cosines.

    .. math::  \min_W \frac1k \sum_i \max_{j \ne i} \mathbf w_i^\top \mathbf w_j

    Args:
        k: Number of classes.
        d: Number of dimensions.
        steps: Largest number of gradient steps. The learning rate stays as it is, so few classes soon go round in a
            circle; that ends the descent.
        learning_rate: Length of a step relative to the gradient.
        generator: Draws the starting point. None means seed 0.

    Returns:
        Unit rows ``(k, d)``, the best that the descent came by.

    Example:
        >>> w = spread(3, 2)                                 # close to the triangle, whose cosines are -1/2
        >>> bool((w @ w.T).fill_diagonal_(-1).max() < -0.45), w.shape
        (True, torch.Size([3, 2]))
    """
    w = F.normalize(torch.randn(k, d, generator=generator_or_default(generator)), dim=1)
    best, lowest, since = w, math.inf, 0
    for _ in range(steps):
        largest, nearest = (w @ w.T).fill_diagonal_(-2.0).max(dim=1)
        value = float(largest.mean())
        since = 0 if value < lowest - _GAIN else since + 1
        if value < lowest:
            best, lowest = w, value
        if since == _PATIENCE:
            break
        # Both ends of w_i . w_j move: every row away from its nearest, and the nearest away from it.
        gradient = w[nearest].index_add(0, nearest, w) / k
        w = F.normalize(w - learning_rate * gradient, dim=1)
    return best

r"""Equiangular basis vectors: unit prototypes that are nearly orthogonal.

.. math::  |\mathbf w_i^\top \mathbf w_j| \le \alpha \quad (i \ne j)

If there are no more classes than dimensions, an orthonormal basis is such a set, whatever :math:`\alpha`. Beyond,
gradient steps bring the excess to zero, back on the sphere after each:

.. math::  \sum_{i \ne j} \max(0, |\mathbf w_i^\top \mathbf w_j| - \alpha), \qquad
           \alpha \ge \sqrt{\frac{k - d}{d (k - 1)}} \quad\text{(Welch: no k vectors do with less)}.

The absolute value forbids opposite prototypes as well, so these are not as far apart as anchors are.

References:
    Shen, Sun and Wei, 2023. Equiangular Basis Vectors. CVPR.
    Welch, 1974. Lower Bounds on the Maximum Cross Correlation of Signals. IEEE Transactions on Information Theory.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from anchored._errors import InputError
from anchored._random import generator_or_default
from anchored.prototypes._rotation import haar_frame

__all__ = ["nearly_orthogonal"]

_TOLERANCE = 1e-4


def nearly_orthogonal(
    k: int,
    d: int,
    *,
    alpha: float = 0.002,
    steps: int = 100_000,
    learning_rate: float = 1e-3,
    generator: torch.Generator | None = None,
) -> Tensor:
    r"""Find unit vectors whose cosines are small in absolute value: :math:`|\mathbf w_i^\top \mathbf w_j| \le \alpha`.

    Args:
        k: Number of classes.
        d: Number of dimensions.
        alpha: The largest absolute cosine, kept up to 1e-4; at least :math:`\sqrt{(k - d) / (d (k - 1))}`.
        steps: Number of gradient steps after which the search is given up.
        learning_rate: Length of a step relative to the gradient.
        generator: Draws the basis, or the starting point. None means seed 0.

    Returns:
        Unit rows ``(k, d)``.

    Raises:
        InputError: If no such vectors exist (Welch's bound), or none were found in time.

    Example:
        >>> w = nearly_orthogonal(6, 4, alpha=0.5)
        >>> bool((w @ w.T - torch.eye(6)).abs().max() <= 0.5001)
        True
    """
    generator = generator_or_default(generator)
    if k <= d:
        return haar_frame(d, k, generator).T.float()
    welch = math.sqrt((k - d) / (d * (k - 1)))
    if alpha < welch:
        raise InputError(
            f"alpha must be at least {welch:.4f} for {k} vectors in {d} dimensions (Welch's bound), got {alpha:g}; "
            f"raise it, or dimensions to {k}"
        )
    w = F.normalize(torch.randn(k, d, generator=generator), dim=1)
    every = torch.arange(k)
    for _ in range(steps):
        cosines = w @ w.T
        cosines[every, every] = 0.0
        beyond = cosines.abs() > alpha
        if not bool((cosines.abs() > alpha + _TOLERANCE).any()):
            return w
        # Each pair stands twice in the sum.
        w = F.normalize(w - 2 * learning_rate * (cosines.sign() * beyond) @ w, dim=1)
    reached = float(cosines.abs().max())
    raise InputError(
        f"{k} vectors in {d} dimensions have cosines of up to {reached:.4f} after {steps} steps, asked for {alpha:g}; "
        f"raise alpha to {reached:.3g}, or dimensions"
    )

"""Quality of prototypes: their largest cosine, smallest angle, distance from the best Gram matrix, and sum."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from anchored.prototypes._request import check_prototypes

__all__ = ["Quality", "quality"]


@dataclass(frozen=True)
class Quality:
    """The measures that :func:`quality` returns."""

    max_cosine: float
    """Between two different rows. At least -1/(k-1), and at least 0 for k > d + 1."""
    min_angle_degrees: float
    """The angle with that cosine."""
    gram_error: float
    """The largest deviation of an entry of W Wᵀ from its ideal.

    For k <= d + 1 the ideal is the simplex: 1 on the diagonal, -1/(k-1) elsewhere. Beyond, no single Gram matrix is
    ideal; then a diagonal entry deviates from 1, and any other by as much as it lies above Rankin's bound 0. Up to
    k = 2d that bound is attained; for k > 2d it is not, and the error of unit rows is the largest cosine.
    """
    sum_norm: float
    """The length of the sum of all rows; 0 is what makes the sum of the logits vanish for every feature."""


def quality(w: Tensor) -> Quality:
    r"""Measure how good prototypes are.

    ``max_cosine`` and ``min_angle_degrees`` belong to the directions, :math:`\max_{i \ne j} \cos(w_i, w_j)`;
    ``gram_error`` and ``sum_norm``, :math:`\|\sum_i w_i\|`, to the rows as they are.

    Args:
        w: Prototypes ``(k, d)``.

    Example:
        >>> quality(torch.eye(3))                              # orthonormal, not yet a simplex
        Quality(max_cosine=0.0, min_angle_degrees=90.0, gram_error=0.5, sum_norm=1.7320508075688772)
    """
    w = check_prototypes(w)
    k, d = w.shape
    unit = torch.nn.functional.normalize(w, dim=1)
    two_sided = k <= d + 1
    ideal = -1 / (k - 1) if two_sided else 0.0
    max_cosine, gram_error = -1.0, 0.0
    for rows in torch.split(torch.arange(k), max(1, (1 << 21) // k)):
        own = torch.nn.functional.one_hot(rows, k).bool()
        max_cosine = max(max_cosine, float((unit[rows] @ unit.T)[~own].max()))
        gram = w[rows] @ w.T
        off = gram[~own] - ideal
        off_error = off.abs().max() if two_sided else off.max()
        gram_error = max(gram_error, float(off_error), float((gram[own] - 1).abs().max()))
    max_cosine = min(1.0, max_cosine)
    return Quality(max_cosine, math.degrees(math.acos(max_cosine)), gram_error, float(w.sum(dim=0).norm()))

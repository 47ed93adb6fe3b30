r"""The largest margin a feature can have for its class: :math:`\max_{\|z\| \le 1} \min_{j \ne y} (w_y - w_j) \cdot z`.

Its dual is a shortest distance, :math:`\min_\lambda \|(w_y - \sum_{j \ne y} \lambda_j w_j)_+\|` over
:math:`\lambda \ge 0` with :math:`\sum_j \lambda_j = 1`, where the positive part is taken if z >= 0 and dropped if z
may have any sign. The shortest vector, made unit, is the best z, so every step yields both a margin that
is reached and a bound that no z exceeds.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from anchored._checks import check_real
from anchored.prototypes._request import check_prototypes

__all__ = ["reachable_margin"]

_MOST_STEPS = 20_000


def reachable_margin(w: Tensor, *, nonnegative: bool = True, tolerance: float = 1e-4) -> Tensor:
    r"""Return the best margin of each class over unit features, within ``tolerance`` of the optimum.

    .. math::  \max_{\|z\| \le 1} \min_{j \ne y} (w_y - w_j) \cdot z \qquad (z \ge 0 \text{ if nonnegative}).

    Args:
        w: Prototypes ``(k, d)``.
        nonnegative: Whether only features z >= 0 count, as after a ReLU.
        tolerance: How far below the optimum the answer may be.

    Returns:
        Margins ``(k,)``, float64, each reached by some feature; 0 for a class that no feature can tell from the others.

    Example:
        >>> from anchored.prototypes import simplex
        >>> reachable_margin(simplex(5, 16, orientation="orthant"))                # sqrt(5/4) for every class
        tensor([1.1180, 1.1180, 1.1180, 1.1180, 1.1180], dtype=torch.float64)
        >>> reachable_margin(simplex(5, 16), nonnegative=False)                   # 5/4 for signed features
        tensor([1.2500, 1.2500, 1.2500, 1.2500, 1.2500], dtype=torch.float64)
    """
    w = check_prototypes(w)
    tolerance = check_real("tolerance", tolerance, low=0, closed="neither")
    blocks = torch.split(torch.arange(len(w)), max(1, (1 << 21) // len(w)))
    return torch.cat([_margins(w, classes, nonnegative, tolerance) for classes in blocks])


def _margins(w: Tensor, classes: Tensor, nonnegative: bool, tolerance: float) -> Tensor:
    """Run accelerated projected gradient on the dual, restarted if it overshoots; one row of weights per class."""
    k = len(w)
    own = torch.nn.functional.one_hot(classes, k).bool()
    step = 1 / torch.linalg.matrix_norm(w, 2).square()
    weights = (~own).double() / (k - 1)
    ahead, momentum = weights, torch.ones(len(classes), 1, dtype=torch.float64)
    reached = torch.zeros(len(classes), dtype=torch.float64)
    for count in range(_MOST_STEPS):
        if count % 10 == 0:
            residual = _residual(w, classes, weights, nonnegative)
            length = residual.norm(dim=1)
            z = residual / length.clamp(min=1e-300)[:, None]
            products = z @ w.T
            rivals = products.masked_fill(own, -math.inf).amax(dim=1)
            reached = torch.maximum(reached, products[own] - rivals)
            if (length - reached).max() <= tolerance:
                break
        slope = _residual(w, classes, ahead, nonnegative) @ w.T
        forward = _onto_simplex((ahead + step * slope).masked_fill(own, -1e3))
        overshot = ((ahead - forward) * (forward - weights)).sum(dim=1, keepdim=True) > 0
        following = torch.where(overshot, 1.0, (1 + (1 + 4 * momentum.square()).sqrt()) / 2)
        ahead = forward + torch.where(overshot, 0.0, (momentum - 1) / following) * (forward - weights)
        weights, momentum = forward, following
    return reached


def _residual(w: Tensor, classes: Tensor, weights: Tensor, nonnegative: bool) -> Tensor:
    residual = w[classes] - weights @ w
    return residual.clamp(min=0) if nonnegative else residual


def _onto_simplex(x: Tensor) -> Tensor:
    """Return the nearest rows with entries >= 0 that sum to one: all entries are lowered alike and cut off at zero."""
    ordered = x.sort(dim=1, descending=True).values
    count = torch.arange(1, x.shape[1] + 1, dtype=x.dtype)
    excess = (ordered.cumsum(dim=1) - 1) / count
    kept = (ordered > excess).sum(dim=1, keepdim=True)
    return (x - excess.gather(1, kept - 1)).clamp(min=0)

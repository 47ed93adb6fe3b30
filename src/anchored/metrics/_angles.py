r"""Angles between prototypes, and lengths: the geometry that anchoring fixes and training distorts.

.. math::  \theta_{ij} = \arccos \frac{w_i \cdot w_j}{\lVert w_i\rVert\, \lVert w_j\rVert}, \qquad
           \cos\theta_{\min} \ge \frac{-1}{k-1},

with equality only for the simplex (k = 10: 96.38 degrees).
"""

from __future__ import annotations

import torch
from torch import Tensor

from anchored._errors import InputError

__all__ = ["angles", "minimal_angle", "norms"]


def norms(rows: Tensor) -> Tensor:
    """Euclidean length of each row ``(n,)``: of prototypes ``(k, d)`` or of features ``(n, d)``.

    Example:
        >>> import torch
        >>> norms(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
        tensor([5., 0.])
    """
    rows = _checked_rows("rows", rows)
    lengths: Tensor = torch.linalg.vector_norm(rows, dim=1)
    return lengths


def angles(prototypes: Tensor) -> Tensor:
    """Angles ``(k, k)`` in degrees between the rows of ``prototypes`` ``(k, d)``, float64, zero diagonal.

    Example:
        >>> import torch
        >>> angles(torch.tensor([[1.0, 0.0], [0.0, 2.0]]))
        tensor([[ 0., 90.],
                [90.,  0.]], dtype=torch.float64)
    """
    w = _checked_rows("prototypes", prototypes).double()
    lengths = torch.linalg.vector_norm(w, dim=1, keepdim=True)
    if float(lengths.min()) == 0:
        raise InputError(f"prototypes must not be zero, got a zero row {int(lengths.argmin())}; it has no direction")
    w = w / lengths
    # Rounding takes the cosine of equal rows past 1, where arccos is NaN.
    return torch.rad2deg(torch.arccos((w @ w.T).clamp(-1, 1))).fill_diagonal_(0)


def minimal_angle(prototypes: Tensor) -> float:
    """Smallest angle in degrees between two different rows of ``prototypes`` ``(k, d)``, k >= 2.

    Example:
        >>> import torch
        >>> round(minimal_angle(torch.tensor([[1.0, 0.0], [0.0, 2.0], [-1.0, 0.1]])), 2)
        84.29
    """
    between = angles(prototypes)
    if between.shape[0] < 2:
        raise InputError("prototypes must have at least two rows to have an angle between them, got one")
    return between.fill_diagonal_(torch.inf).min().item()


def _checked_rows(name: str, rows: Tensor) -> Tensor:
    rows = torch.as_tensor(rows).detach()
    if rows.ndim != 2 or rows.numel() == 0 or not rows.is_floating_point():
        raise InputError(f"{name} must be real numbers, one row each, got {rows.dtype} of shape {tuple(rows.shape)}")
    return rows

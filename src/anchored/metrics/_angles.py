r"""Angles between prototypes, and lengths of vectors: the geometry that anchoring fixes and training distorts.

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
    r"""Return the Euclidean length :math:`\lVert w_i \rVert` of each row.

    Args:
        rows: Prototypes ``(k, d)`` or features ``(n, d)``.

    Example:
        >>> import torch
        >>> norms(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
        tensor([5., 0.])
    """
    rows = _checked_rows("rows", rows)
    lengths: Tensor = torch.linalg.vector_norm(rows, dim=1)
    return lengths


def angles(prototypes: Tensor) -> Tensor:
    r"""Return the angles in degrees between all pairs of prototypes.

    .. math::  \theta_{ij} = \arccos \frac{w_i \cdot w_j}{\lVert w_i\rVert\, \lVert w_j\rVert}.

    Args:
        prototypes: Rows ``(k, d)``, none of them zero.

    Returns:
        Angles ``(k, k)``, float64, with a zero diagonal.

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
    r"""Return the smallest angle in degrees between two different prototypes, :math:`\min_{i \ne j} \theta_{ij}`.

    Args:
        prototypes: Rows ``(k, d)`` with ``k >= 2``, none of them zero.

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

"""Features standardised, and turned onto their principal axes: what methods and judges look along.

Columns are centred and scaled in float64, so that a column of 1e8 plus small numbers keeps its digits; a constant
column says nothing and becomes 0. Of many columns the largest principal axes are kept: directions to look along need
no more rows and digits than :func:`principal_axes` takes.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["AXES", "Standard", "principal_axes", "standard_of"]

AXES = 256
"""Most principal axes that are kept."""
_AXES_FROM, _LEAST_VARIANCE = 5_000, 1e-6
_CONSTANT = 1e-12
"""Deviation, as a share of a column's largest number, below which the column is constant."""
_BLOCK_NUMBERS = 2**24


@dataclass(frozen=True, eq=False)
class Standard:
    """Centre and size of every column.

    Attributes:
        mean: ``(d,)``, float64.
        inverse: ``(d,)``, float64: one over the deviation, 0 for a constant column.
    """

    mean: Tensor
    inverse: Tensor

    def of(self, rows: Tensor) -> Tensor:
        """Return the rows ``(n, d)`` standardised, float32."""
        blocks = torch.split(rows, max(1, _BLOCK_NUMBERS // max(rows.shape[1], 1)))
        return torch.cat([((block.to(torch.float64) - self.mean) * self.inverse).to(torch.float32) for block in blocks])


def standard_of(rows: Tensor) -> Standard:
    """Measure centre and size of every column.

    Args:
        rows: Features ``(n, d)``, finite.

    Returns:
        What standardises these and other rows.

    Example:
        >>> standard_of(torch.tensor([[1.0, 5.0], [3.0, 5.0]])).of(torch.tensor([[1.0, 5.0], [5.0, 7.0]]))
        tensor([[-1.,  0.],
                [ 3.,  0.]])
    """
    means, inverses = [], []
    for columns in torch.split(rows, max(1, _BLOCK_NUMBERS // max(len(rows), 1)), dim=1):
        part = columns.to(torch.float64)
        size, mean = part.abs().amax(dim=0), part.mean(dim=0)
        spread = (part - mean).square().mean(dim=0).sqrt()
        means.append(mean)
        inverses.append(torch.where(spread > _CONSTANT * size, 1.0 / spread.clamp(min=1e-300), 0.0))
    return Standard(torch.cat(means), torch.cat(inverses))


def principal_axes(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Find the largest principal axes, at most 256, of standardised rows.

    Args:
        rows: ``(n, d)``, float32, with mean 0 in every column; at most 5,000 of them are looked at.

    Returns:
        Variances ``(m,)`` along the axes, the largest last, and the axes ``(d, m)``.

    Example:
        >>> variances, axes = principal_axes(torch.tensor([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]]))
        >>> variances, axes.abs()
        (tensor([0.5000, 4.5000]), tensor([[0., 1.],
                [1., 0.]]))
    """
    part = rows[:: max(1, -(-len(rows) // _AXES_FROM))]
    variances, axes = torch.linalg.eigh(part.T @ part / len(part))
    kept = variances > _LEAST_VARIANCE * variances.max()
    return variances[kept][-AXES:], axes[:, kept][:, -AXES:]

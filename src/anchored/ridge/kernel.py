r"""Features of a Gaussian kernel from a bounded number of landmarks (Nyström).

.. math::  K(x, x') = \exp\bigl(-\gamma \lVert \tilde x - \tilde x' \rVert^2\bigr), \qquad
           \phi(x) = K(x, L)\, K(L, L)^{-1/2},

with :math:`\tilde x` standardised and landmarks L among the training rows. Then :math:`\phi(x) \cdot \phi(x')` equals
the kernel on the landmarks and approximates it elsewhere; with every row a landmark it is exact. The map never sees a
label, so leave-one-out predictions on :math:`\phi` are as exact as on x.

References:
    Williams and Seeger, 2001. Using the Nyström Method to Speed Up Kernel Machines. NeurIPS.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from anchored.ridge.rows import Array, Rows

__all__ = ["MappedRows", "Nystroem", "widths"]

_MULTIPLES = (0.25, 1.0, 4.0, 16.0, 64.0)
"""Candidates for the kernel's gamma, in units of one over twice the median squared distance."""
_PAIRS = 1_000
_RELATIVE = 1e-10


class Nystroem(nn.Module):
    """The map from features to kernel features, as a torch module.

    Args:
        mean: ``(d,)``, subtracted from features.
        inverse: ``(d,)``, one over the standard deviation; zero for columns that are left out.
        landmarks: Standardised landmarks ``(m, d)``.
        mix: ``(m, r)``, the inverse root of the landmarks' kernel.
        gamma: Sharpness of the kernel.
    """

    mean: Tensor
    inverse: Tensor
    landmarks: Tensor
    mix: Tensor

    def __init__(self, mean: Tensor, inverse: Tensor, landmarks: Tensor, mix: Tensor, gamma: float) -> None:
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("inverse", inverse)
        self.register_buffer("landmarks", landmarks)
        self.register_buffer("mix", mix)
        self.gamma = gamma

    @classmethod
    def fit(cls, landmarks: Array, mean: Array, inverse: Array, gamma: float) -> Nystroem:
        """Make the map from raw landmarks.

        Args:
            landmarks: Rows ``(m, d)`` of the training data.
            mean: ``(d,)``.
            inverse: ``(d,)``, one over the standard deviation.
            gamma: Sharpness of the kernel.

        Returns:
            The map; it has as many features as the landmarks' kernel has eigenvalues above rounding.

        Example:
            >>> X = np.array([[0.0], [1.0], [3.0]])
            >>> phi = Nystroem.fit(X, np.zeros(1), np.ones(1), 0.5)(torch.from_numpy(X))
            >>> bool(torch.allclose((phi @ phi.T)[0, 1].exp(), torch.tensor(np.exp(np.exp(-0.5)))))
            True
        """
        points = (landmarks - mean) * inverse
        kernel = np.exp(-gamma * _squares(points, points))
        values, vectors = np.linalg.eigh(kernel)
        kept = values > _RELATIVE * values[-1]
        mix = vectors[:, kept] / np.sqrt(values[kept])
        of = torch.from_numpy
        return cls(of(mean), of(inverse), of(points), of(np.ascontiguousarray(mix)), gamma)

    @property
    def features(self) -> int:
        """Number of kernel features r."""
        return self.mix.shape[1]

    def forward(self, rows: Tensor) -> Tensor:
        """Map features ``(n, d)`` to kernel features ``(n, r)``."""
        points = (rows - self.mean) * self.inverse
        squares = (points**2).sum(dim=1, keepdim=True) + (self.landmarks**2).sum(dim=1) - 2 * points @ self.landmarks.T
        return torch.exp(-self.gamma * squares.clamp(min=0)) @ self.mix


class MappedRows(Rows):
    """The kernel features of other rows, computed chunk by chunk.

    Args:
        rows: Raw features.
        kernel: The map.
    """

    def __init__(self, rows: Rows, kernel: Nystroem) -> None:
        self.base, self.kernel = rows, kernel
        self.n, self.d, self.name = rows.n, kernel.features, rows.name

    def chunk_rows(self, width: int = 0) -> int:
        """Return how many rows fit a chunk, raw features and landmarks included; argument as in the base class."""
        return super().chunk_rows(max(width, self.base.d, len(self.kernel.landmarks)))

    def read(self, start: int, stop: int) -> Array:
        """Read and map rows; arguments as :meth:`Rows.read`."""
        kernel = self.kernel
        points = (self.base.read(start, stop) - kernel.mean.numpy()) * kernel.inverse.numpy()
        squares = _squares(points, kernel.landmarks.numpy())
        squares *= -kernel.gamma
        mapped: Array = np.exp(squares, out=squares) @ kernel.mix.numpy()
        return mapped


def widths(landmarks: Array, mean: Array, inverse: Array) -> list[float]:
    r"""Return the candidates for gamma.

    They are multiples of :math:`1 / (2 \operatorname{median} \lVert \tilde x - \tilde x' \rVert^2)`.

    Args:
        landmarks: Rows ``(m, d)`` in random order.
        mean: ``(d,)``.
        inverse: ``(d,)``, one over the standard deviation.

    Example:
        >>> widths(np.array([[0.0], [1.0]]), np.zeros(1), np.ones(1))[1]
        0.5
    """
    points = (landmarks[:_PAIRS] - mean) * inverse
    squares = _squares(points, points)[np.triu_indices(len(points), 1)]
    typical = float(np.median(squares[squares > 0])) if (squares > 0).any() else 1.0
    return [multiple / (2 * typical) for multiple in _MULTIPLES]


def _squares(one: Array, other: Array) -> Array:
    squares: Array = one @ (-2.0 * other.T)
    squares += (one**2).sum(axis=1)[:, None]
    squares += (other**2).sum(axis=1)
    return np.maximum(squares, 0.0, out=squares)

"""Orthonormal frames drawn from Haar measure: the Q of a Gaussian matrix's QR, with R's diagonal made positive."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["haar_frame"]


def haar_frame(d: int, m: int, generator: torch.Generator) -> Tensor:
    """Draw an orthonormal frame, uniform over all such frames (Haar measure).

    Args:
        d: Number of dimensions.
        m: Number of columns, ``m <= d``.
        generator: Source of randomness.

    Returns:
        Columns ``(d, m)``, float64, with ``Q.T @ Q = I``.

    Example:
        >>> q = haar_frame(5, 2, torch.Generator().manual_seed(0))
        >>> torch.allclose(q.T @ q, torch.eye(2, dtype=torch.float64))
        True
    """
    gaussian = torch.randn(d, m, generator=generator, dtype=torch.float64, device=generator.device)
    q: Tensor
    q, r = torch.linalg.qr(gaussian.cpu())
    # QR is unique only up to the signs of R's diagonal. LAPACK picks them by its own rule, which would
    # tie the frame to the axes; positive signs make Q a function of the Gaussian's directions alone.
    return q * torch.where(r.diagonal() < 0, -1.0, 1.0)

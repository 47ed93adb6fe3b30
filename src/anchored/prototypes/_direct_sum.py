r"""Simplices in orthogonal subspaces: unit rows that sum to zero, with largest cosine exactly 0, for d + 2 <= k <= 2d.

More than d + 1 vectors cannot all be at obtuse angles, so the best largest cosine is 0 (Rankin). It is attained by
k - d regular simplices whose spans are orthogonal and fill the space: the sizes n_1 + ... + n_m = k take
:math:`\sum_i (n_i - 1) = k - m` dimensions, hence m = k - d.
"""

from __future__ import annotations

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored._random import generator_or_default
from anchored.prototypes._request import check_dtype, check_sizes
from anchored.prototypes._rotation import haar_frame
from anchored.prototypes._simplex import helmert

__all__ = ["direct_sum"]


def direct_sum(
    k: int, d: int, *, generator: torch.Generator | None = None, dtype: torch.dtype = torch.float32
) -> Tensor:
    r"""Return ``k - d`` simplices in orthogonal subspaces: the best prototypes for ``d + 2 <= k <= 2 d``.

    Within a simplex of n rows :math:`w_i \cdot w_j = -1/(n-1)`, between simplices :math:`w_i \cdot w_j = 0`. The sizes
    are as equal as possible, and a random (Haar) rotation turns the whole. Neighbouring classes share a simplex: rows
    0, 1, ... fill the first one, and so on. For signed features only.

    Args:
        k: Number of classes, ``d + 2 <= k <= 2 d``.
        d: Number of features.
        generator: Source of the rotation. None means seed 0.
        dtype: Data type of the result; the arithmetic is float64.

    Returns:
        Prototypes ``(k, d)``: rows of unit length that sum to zero.

    Raises:
        InputError: If k is too small or too large for d.

    Example:
        >>> w = direct_sum(6, 4, dtype=torch.float64)             # two triangles
        >>> bool((w @ w.T - torch.eye(6).double()).max() < 1e-15)
        True
    """
    k, d = check_sizes(k, d)
    check_dtype(dtype)
    if not d + 2 <= k <= 2 * d:
        remedy = f"use simplex({k}, {d})" if k <= d + 1 else f"use packing({k}, {d})"
        raise InputError(f"a direct sum of simplices needs d + 2 <= k <= 2 d, got k={k}, d={d}; {remedy}")
    parts, larger = k - d, k % (k - d)
    sizes = [k // parts + (part < larger) for part in range(parts)]
    rows = torch.zeros(k, d, dtype=torch.float64)
    row = 0
    for part, size in enumerate(sizes):
        rows[row : row + size, row - part : row - part + size - 1] = helmert(size)
        row += size
    return (rows @ haar_frame(d, d, generator_or_default(generator)).T).to(dtype)

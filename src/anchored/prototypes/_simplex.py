r"""Equiangular unit prototypes: :math:`w_i \cdot w_j = -1/(k-1)` for i != j, whenever k <= d + 1.

In the closed form :math:`W = \sqrt{k/(k-1)}\,(I - J/k)\,E`, J is the matrix of ones and E has k orthonormal
rows. Its margin :math:`\min_{j \ne y} (w_y - w_j) \cdot w_y = k/(k-1)` is the largest that k unit vectors can have.

Features that have passed a ReLU never point at w_y, which has negative entries. If the rows of E are non-negative
with disjoint supports, z = e_y is such a feature and has margin :math:`\sqrt{k/(k-1)}`, which no other
rotation of the simplex exceeds; a random rotation keeps about 0.6 of it.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored._names import choose
from anchored._random import generator_or_default
from anchored.prototypes._request import check_dtype, check_sizes
from anchored.prototypes._rotation import haar_frame

__all__ = ["helmert", "simplex"]


def simplex(
    k: int,
    d: int,
    *,
    orientation: Literal["random", "orthant"] = "random",
    generator: torch.Generator | None = None,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    r"""Return the regular simplex: k unit vectors at equal angles, :math:`w_i \cdot w_j = -1/(k-1)`.

    .. math::  W = \sqrt{\tfrac{k}{k-1}}\,(I - J/k)\,E, \qquad E E^\top = I,

    with the matrix of ones J. The largest margin that k unit vectors can have is :math:`k/(k-1)`, and these have it.

    Args:
        k: Number of classes, ``2 <= k <= d + 1``.
        d: Number of features.
        orientation: ``"random"`` turns the simplex by a Haar-distributed rotation: for signed features.
            ``"orthant"`` (``k <= d``) deals all d coordinates out to the classes and gives each class the
            constant vector on its share: for features that are never negative.
        generator: Source of the rotation, or of the deal. None means seed 0.
        dtype: Data type of the result; the arithmetic is float64.

    Returns:
        Prototypes ``(k, d)``: rows of unit length that sum to zero.

    Raises:
        InputError: If there are too many classes for d.

    Example:
        >>> w = simplex(5, 16, dtype=torch.float64)
        >>> gram = w @ w.T
        >>> torch.allclose(gram, 1.25 * torch.eye(5, dtype=torch.float64) - 0.25)
        True
    """
    k, d = check_sizes(k, d)
    check_dtype(dtype)
    build = choose(orientation, {"random": _random, "orthant": _orthant}, what="orientation")
    return build(k, d, generator_or_default(generator)).to(dtype)


def helmert(k: int) -> Tensor:
    """Return the simplex in its own space, ``(k, k-1)`` in float64: unit rows with cosine ``-1/(k-1)``.

    Column m (from 1) is constant on the first m rows and balances them in row m + 1, so that the columns are orthogonal
    by construction and need no decomposition.

    Example:
        >>> helmert(2)
        tensor([[ 1.],
                [-1.]], dtype=torch.float64)
    """
    m = torch.arange(1, k, dtype=torch.float64)
    columns = torch.ones(k, k - 1, dtype=torch.float64).triu() - torch.diag_embed(m, offset=-1)[:, :-1]
    return columns * (math.sqrt(k / (k - 1)) / (m * (m + 1)).sqrt())


def _random(k: int, d: int, generator: torch.Generator) -> Tensor:
    if k > d + 1:
        raise InputError(
            f"a simplex needs k <= d + 1, got k={k}, d={d}; "
            f"use make(k, d) or packing(k, d) for more classes, or at least d={k - 1} features"
        )
    return helmert(k) @ haar_frame(d, k - 1, generator).T


def _orthant(k: int, d: int, generator: torch.Generator) -> Tensor:
    if k > d:
        raise InputError(
            f"orientation 'orthant' needs k <= d (each class owns a coordinate), got k={k}, d={d}; "
            f"use packing(k, d, nonnegative=True), or at least d={k} features"
        )
    owner = torch.arange(d) % k
    owner = owner[torch.randperm(d, generator=generator, device=generator.device).cpu()]
    e = (torch.arange(k)[:, None] == owner).double()
    e = e / e.sum(dim=1, keepdim=True).sqrt()
    return math.sqrt(k / (k - 1)) * (e - e.mean(dim=0))

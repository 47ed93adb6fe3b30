"""The choice of prototypes: the best ones known for k classes, d features and the sign of the features."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from anchored._names import choose
from anchored.prototypes._direct_sum import direct_sum
from anchored.prototypes._packing import packing
from anchored.prototypes._request import check_sizes
from anchored.prototypes._simplex import simplex

__all__ = ["make"]


def make(
    k: int,
    d: int,
    *,
    features: Literal["signed", "nonnegative"] = "signed",
    generator: torch.Generator | None = None,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """Return the best prototypes known; k, d and ``features`` alone decide the construction.

    ============================  ==========================================
    signed, k <= d + 1            :func:`simplex`, randomly turned
    signed, d + 2 <= k <= 2 d     :func:`direct_sum`
    signed, k > 2 d               :func:`packing`
    nonnegative, k <= d           :func:`simplex`, orientation ``"orthant"``
    nonnegative, k > d            :func:`packing` with ``nonnegative=True``
    ============================  ==========================================

    Args:
        k: Number of classes, at least 2.
        d: Number of features, at least 1.
        features: ``"nonnegative"`` if they come out of a ReLU (or the average of one), else ``"signed"``.
        generator: Source of randomness. None means seed 0.
        dtype: Data type of the result; the arithmetic is float64.

    Returns:
        Prototypes ``(k, d)``, rows of unit length.

    Example:
        >>> make(10, 128).shape
        torch.Size([10, 128])
    """
    k, d = check_sizes(k, d)
    nonnegative = choose(features, {"signed": False, "nonnegative": True}, what="kind of features")
    if nonnegative and k <= d:
        return simplex(k, d, orientation="orthant", generator=generator, dtype=dtype)
    if nonnegative:
        return packing(k, d, nonnegative=True, generator=generator, dtype=dtype)
    if k <= d + 1:
        return simplex(k, d, generator=generator, dtype=dtype)
    if k <= 2 * d:
        return direct_sum(k, d, generator=generator, dtype=dtype)
    return packing(k, d, generator=generator, dtype=dtype)

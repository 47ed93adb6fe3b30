"""Checks that all prototype sets share: of k, d, the dtype and given rows."""

from __future__ import annotations

import torch
from torch import Tensor

from anchored._checks import check_integer
from anchored._errors import InputError
from anchored._memory import available_memory

__all__ = ["check_dtype", "check_prototypes", "check_sizes"]

_BYTES = 24
"""Memory per number: the result in double precision, and what it is made from."""


def check_sizes(k: object, d: object) -> tuple[int, int]:
    """Return k and d as whole numbers with room for k different directions.

    Args:
        k: Number of classes, at least 2.
        d: Number of features, at least 1.

    Returns:
        Both as ``int``.

    Raises:
        InputError: If there are more classes than directions.

    Example:
        >>> check_sizes(10, 128)
        (10, 128)
    """
    k = check_integer("k", k, low=2, way_out="prototypes tell classes apart, so give the number of classes")
    d = check_integer("d", d, low=1, way_out="give the number of features the prototypes are compared with")
    if d == 1 and k > 2:
        raise InputError(f"d=1 has only the directions +1 and -1, got k={k} classes; use d >= 2")
    needed, there = _BYTES * k * d, available_memory()
    if needed > there:
        raise InputError(
            f"{k:,} prototypes of {d:,} numbers take {needed / 2**30:,.1f} GB, and {there / 2**30:,.1f} GB are there; "
            "use fewer classes or features"
        )
    return k, d


def check_dtype(dtype: object) -> None:
    """Refuse a dtype that cannot hold a unit vector."""
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise InputError(f"dtype must be a real floating-point torch dtype, got {dtype!r}; use torch.float32")


def check_prototypes(w: object) -> Tensor:
    """Return ``w`` as ``(k, d)`` in float64 on the CPU; refuse fewer than two rows, and infinite or zero ones.

    Example:
        >>> check_prototypes([[1.0, 0.0], [0.0, 2.0]]).dtype
        torch.float64
    """
    w = torch.as_tensor(w).detach()
    if w.ndim != 2 or len(w) < 2 or w.shape[1] < 1:
        raise InputError(f"prototypes must have shape (k, d) with k >= 2 and d >= 1, got {tuple(w.shape)}")
    if w.is_complex():
        raise InputError(f"prototypes must be real numbers, got {w.dtype}")
    w = w.to("cpu", torch.float64)
    usable = w.isfinite().all(dim=1) & (w != 0).any(dim=1)
    if not usable.all():
        row = int((~usable).nonzero()[0, 0])
        raise InputError(f"prototypes must be finite and not zero, got {w[row].tolist()[:4]} ... in row {row}")
    return w

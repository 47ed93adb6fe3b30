"""Inner products in full precision: half-precision inputs are multiplied as float32, and rounded once, at the end.

A cosine in bfloat16 has less than three digits, which a scale of 30 turns into several hundredths of a logit. The
product with k rows is a small part of a network, so it is worth the wider type, under autocast too. The result has the
type that torch promotes the two inputs to: float32 for bfloat16 features on float32 rows, bfloat16 if both are.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
import torch.nn.functional as F
from torch import Tensor

__all__ = ["inner", "scripted", "unit", "unit_if", "without_autocast"]

HALF = (torch.float16, torch.bfloat16)


def shortest_length(dtype: torch.dtype) -> float:
    """Return the length below which a vector is shrunk to zero instead of being blown up to length one.

    It is ``epsilon = max(1e-6, 16 * tiny)``, with the smallest normal number ``tiny`` of the dtype. Its inverse bounds
    the gradient of the direction. The usual 1e-12 would allow gradients of 1e12. In float16 the
    bound has to fit into the type (65504), and vectors that short have entries without digits there anyway.

    Example:
        >>> shortest_length(torch.float32), shortest_length(torch.float16)
        (1e-06, 0.0009765625)
    """
    return max(1e-6, 16 * torch.finfo(dtype).tiny)


def without_autocast(device: torch.device) -> AbstractContextManager[object]:
    """Return a context in which products keep the type of their inputs."""
    # Asked first, because an exported graph should not hold a context that does nothing.
    if torch.amp.is_autocast_available(device.type) and torch.is_autocast_enabled(device.type):
        return torch.autocast(device.type, enabled=False)
    return nullcontext()


def unit(vectors: Tensor, *, shortest: float | None = None) -> Tensor:
    r"""Scale vectors to length one, :math:`\mathbf v / \max(\lVert \mathbf v \rVert, \epsilon)`; zero stays zero.

    Args:
        vectors: Vectors ``(..., d)``.
        shortest: The length epsilon below which a vector shrinks to zero; None for :func:`shortest_length` of the
            dtype.

    Returns:
        Vectors ``(..., d)`` of length one, or less for very short ones.

    Example:
        >>> unit(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
        tensor([[0.6000, 0.8000],
                [0.0000, 0.0000]])
    """
    shortest = shortest_length(vectors.dtype) if shortest is None else shortest
    lengths: Tensor = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True)
    return vectors / lengths.clamp_min(shortest)


def inner(
    features: Tensor,
    rows: Tensor,
    *,
    normalize: Tensor | bool,
    normalize_rows: bool = False,
    scale: Tensor | None = None,
) -> Tensor:
    """Return products of features with rows, or of their directions: ``f_j = s w_j · z``.

    Args:
        features: Features ``(..., d)``.
        rows: Rows ``(k, d)``.
        normalize: Whether to divide each feature vector by its length; a bool, or a bool tensor ``()``, whose value is
            not read on the host.
        normalize_rows: Whether to divide each row by its length.
        scale: The factor s ``()``; None for 1.

    Returns:
        Products ``(..., k)`` in the type that torch promotes the two inputs to.

    Example:
        >>> inner(torch.tensor([[3.0, 4.0]]), torch.eye(2), normalize=True)
        tensor([[0.6000, 0.8000]])
    """
    out_dtype = torch.promote_types(features.dtype, rows.dtype)
    wide_dtype = torch.float32 if out_dtype in HALF else out_dtype
    with without_autocast(features.device):
        x, w = features.to(wide_dtype), rows.to(wide_dtype)
        if not isinstance(normalize, bool):
            x = unit_if(normalize, x, shortest_length(features.dtype))
        elif normalize:
            x = unit(x, shortest=shortest_length(features.dtype))
        if normalize_rows:
            w = unit(w, shortest=shortest_length(rows.dtype))
        products = F.linear(x, w)
        return (products if scale is None else scale.to(wide_dtype) * products).to(out_dtype)


def unit_if(flag: Tensor, vectors: Tensor, shortest: float) -> Tensor:
    """Return :func:`unit` of the vectors if ``flag`` is set, else the vectors themselves; the flag stays on its device.

    As one formula, ``v / l`` with ``l = max(‖v‖, shortest)`` if the flag is set and ``l = 1`` if not.

    Args:
        flag: A bool tensor ``()``.
        vectors: Vectors ``(..., d)``.
        shortest: As in :func:`unit`.

    Returns:
        Vectors ``(..., d)``.

    Example:
        >>> unit_if(torch.tensor(False), torch.tensor([3.0, 4.0]), 1e-6)
        tensor([3., 4.])
    """
    lengths = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True).clamp_min(shortest)
    return vectors / torch.where(flag, lengths, torch.ones_like(lengths))


def scripted(features: Tensor, rows: Tensor, normalize: Tensor, scale: Tensor) -> Tensor:
    """Return what :func:`inner` does, ``f_j = s w_j · z``, in the Python that ``torch.jit.script`` compiles.

    It does not see autocast.

    Args:
        features: Features ``(..., d)``.
        rows: Rows ``(k, d)``.
        normalize: Whether to divide each feature vector by its length, a bool tensor ``()``.
        scale: The factor ``()``.

    Returns:
        Products ``(..., k)``.

    Example:
        >>> scripted(torch.tensor([[3.0, 4.0]]), torch.eye(2), torch.tensor(True), torch.tensor(10.0))
        tensor([[6., 8.]])
    """
    out_dtype = torch.result_type(features, rows)
    half = out_dtype == torch.float16 or out_dtype == torch.bfloat16
    wide_dtype = torch.float32 if half else out_dtype
    shortest = 9.765625e-4 if features.dtype == torch.float16 else 1e-6  # shortest_length, which cannot be compiled
    x = unit_if(normalize, features.to(wide_dtype), shortest)
    return (scale.to(wide_dtype) * F.linear(x, rows.to(wide_dtype))).to(out_dtype)

"""Class counts as losses take them: one positive number of samples per class."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from anchored._errors import InputError

__all__ = ["Counts", "check_counts", "check_width"]

Counts = Tensor | Sequence[int] | Sequence[float]


def check_counts(counts: Counts) -> Tensor:
    """Return ``counts`` ``(k,)`` in float64; refuse a class without samples.

    Such a class has no prior to correct for, and the logarithm of 0 would put infinities into the logits: the caller
    decides whether to drop the class or to count it as 1. What a loss keeps of the counts is kept in the default dtype,
    because not every device has float64.

    Example:
        >>> check_counts([90, 10])
        tensor([90., 10.], dtype=torch.float64)
    """
    try:
        given = torch.as_tensor(counts).detach().to(torch.float64)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(f"counts must hold one number per class, got {counts!r}") from None
    if given.ndim != 1 or given.numel() < 2:
        raise InputError(f"counts must hold one number per class, at least two, got shape {tuple(given.shape)}")
    bad = (~(given > 0) | ~torch.isfinite(given)).nonzero().flatten().tolist()
    if bad:
        raise InputError(
            f"counts must be positive, got {given[bad[0]].item():g} for class {bad[0]}; "
            f"drop a class without samples, or count it as 1"
        )
    return given


def check_width(logits: Tensor, per_class: Tensor, name: str) -> None:
    """Refuse logits whose number of classes is not the length of ``per_class``.

    Args:
        logits: Logits ``(n, k)``.
        per_class: Values ``(k,)`` that the loss was built with.
        name: How the error message calls them.

    Raises:
        InputError: If the two differ.
    """
    if logits.shape[1] != per_class.shape[0]:
        raise InputError(
            f"{name} must hold one entry per class: got {per_class.shape[0]} for logits {tuple(logits.shape)}"
        )

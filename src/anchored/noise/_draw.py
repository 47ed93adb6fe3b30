"""Who is flipped: a quota of distinct samples in every class, or each sample for itself."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from anchored._checks import check_labels
from anchored._errors import InputError

__all__ = ["checked_labels", "each_for_itself", "floor_share", "quota_per_class"]


def checked_labels(labels: Tensor, k: int | None) -> Tensor:
    """A copy of ``labels`` as int64 ``(n,)`` in ``0..k-1``, with at least one of them."""
    labels = check_labels(labels, k)
    if labels.numel() == 0:
        raise InputError("labels must hold at least one label, got none")
    return labels.clone()


def floor_share(eta: float, n: int) -> int:
    """``floor(eta n)`` as on paper.

    Example:
        >>> int(0.29 * 100), floor_share(0.29, 100)     # the product in doubles is 28.999999999999996
        (28, 29)
    """
    return math.floor(eta * n * (1 + 1e-12))


def quota_per_class(labels: Tensor, quota: Tensor, generator: torch.Generator) -> Tensor:
    """Mask ``(n,)`` that picks ``quota[c]`` distinct samples of each class ``c``, each set equally likely.

    Example:
        >>> mask = quota_per_class(torch.tensor([0, 1, 1, 0, 1]), torch.tensor([1, 2]), torch.Generator())
        >>> int(mask[[0, 3]].sum()), int(mask[[1, 2, 4]].sum())
        (1, 2)
    """
    shuffled = torch.randperm(labels.numel(), generator=generator).to(labels.device)
    by_class = shuffled[labels[shuffled].argsort(stable=True)]  # class after class, each in random order
    grouped = labels[by_class]
    sizes = torch.bincount(labels, minlength=quota.numel())
    place = torch.arange(labels.numel(), device=labels.device) - (sizes.cumsum(0) - sizes)[grouped]
    mask = torch.zeros_like(labels, dtype=torch.bool)
    mask[by_class] = place < quota.to(labels.device)[grouped]
    return mask


def each_for_itself(rates: Tensor, generator: torch.Generator) -> Tensor:
    """Mask of the shape of ``rates``: entry i is true with probability ``rates[i]``, independently."""
    draws = torch.rand(rates.shape, generator=generator, dtype=torch.float64)
    return draws.to(rates.device) < rates

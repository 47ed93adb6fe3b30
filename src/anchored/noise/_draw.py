"""Who is flipped: a quota of distinct samples in every class, or each sample for itself."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from anchored._checks import check_labels
from anchored._errors import InputError

__all__ = ["checked_labels", "draw_from_rows", "each_for_itself", "floor_share", "quota_per_class"]


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


def draw_from_rows(rows: Tensor, row_of: Tensor, generator: torch.Generator) -> Tensor:
    """One column index per entry of ``row_of`` ``(n,)``, drawn from that row of ``rows`` ``(m, k)``.

    All rows' distribution functions lie end to end on one line, row i on [i, i+1], and one sorted
    search answers for all samples: memory is n + m k, never n k.
    """
    k = rows.shape[1]
    steps = rows.cumsum(dim=1)
    # Divided by its own last entry a row ends at exactly 1, so no draw falls behind its last possible label.
    line = (steps / steps[:, -1:] + torch.arange(rows.shape[0])[:, None]).flatten()
    # 32 random bits: row + draw stays exact in a double, and never rounds up into the next row.
    draws = torch.randint(2**32, row_of.shape, generator=generator).double() / 2**32
    return torch.searchsorted(line, row_of + draws, right=True) - row_of * k

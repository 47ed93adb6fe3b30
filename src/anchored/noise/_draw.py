"""Random draws that all kinds of noise share: which samples are flipped, and to which label."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from anchored._checks import check_labels
from anchored._errors import InputError

__all__ = ["checked_labels", "draw_from_rows", "each_for_itself", "floor_share", "quota_per_class"]


def checked_labels(labels: Tensor, k: int | None) -> Tensor:
    """Return a copy of ``labels`` as int64 ``(n,)`` in ``0..k-1``; refuse an empty one.

    Args:
        labels: The labels as given.
        k: Number of classes, or None for any.
    """
    labels = check_labels(labels, k)
    if labels.numel() == 0:
        raise InputError("labels must hold at least one label, got none")
    return labels.clone()


def floor_share(eta: float, n: int) -> int:
    """Return ``floor(eta n)`` as in exact arithmetic.

    Args:
        eta: A share.
        n: A number of samples.

    Example:
        >>> int(0.29 * 100), floor_share(0.29, 100)     # the product in doubles is 28.999999999999996
        (28, 29)
    """
    return math.floor(eta * n * (1 + 1e-12))


def quota_per_class(labels: Tensor, quota: Tensor, generator: torch.Generator) -> Tensor:
    """Pick ``quota[c]`` distinct samples of each class ``c``, every such set being equally likely.

    Args:
        labels: Labels ``(n,)``.
        quota: Samples to pick per class ``(k,)``.
        generator: Source of randomness.

    Returns:
        A mask ``(n,)`` of the samples picked.

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
    """Draw independent flips: entry i is true with probability ``rates[i]``.

    Args:
        rates: Probabilities of any shape.
        generator: Source of randomness.

    Returns:
        A mask of the shape of ``rates``.

    Example:
        >>> each_for_itself(torch.tensor([0.0, 1.0]), torch.Generator())
        tensor([False,  True])
    """
    draws = torch.rand(rates.shape, generator=generator, dtype=torch.float64)
    return draws.to(rates.device) < rates


def draw_from_rows(rows: Tensor, row_of: Tensor, generator: torch.Generator) -> Tensor:
    """Draw one column index per entry of ``row_of``, from the distribution in that row.

    The distribution functions of all rows lie end to end on one line, row i on [i, i+1], and one sorted
    search answers for all samples: memory is n + m k, never n k.

    Args:
        rows: Distributions ``(m, k)``, float64.
        row_of: Which row each sample draws from, ``(n,)``.
        generator: Source of randomness.

    Returns:
        Column indices ``(n,)``, int64.

    Example:
        >>> rows = torch.tensor([[0.0, 1.0], [1.0, 0.0]]).double()
        >>> draw_from_rows(rows, torch.tensor([0, 1, 1]), torch.Generator())
        tensor([1, 0, 0])
    """
    k = rows.shape[1]
    steps = rows.cumsum(dim=1)
    # Divided by its own last entry a row ends at exactly 1, so no draw falls behind its last possible label.
    line = (steps / steps[:, -1:] + torch.arange(rows.shape[0])[:, None]).flatten()
    # 32 random bits: row + draw stays exact in a double, and never rounds up into the next row.
    draws = torch.randint(2**32, row_of.shape, generator=generator).double() / 2**32
    return torch.searchsorted(line, row_of + draws, right=True) - row_of * k

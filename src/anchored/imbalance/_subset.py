"""A subset with a given number of samples of each class, every such subset being equally likely."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from anchored._checks import check_labels
from anchored._errors import InputError
from anchored._random import generator_or_default
from anchored.imbalance._shots import checked_counts

__all__ = ["subset"]


def subset(labels: Tensor, counts: Sequence[int] | Tensor, *, generator: torch.Generator | None = None) -> Tensor:
    """Indices of ``counts[j]`` samples of every class j, drawn without replacement.

    Args:
        labels: Labels ``(n,)``, integers in ``0..k-1``.
        counts: Samples to keep per class ``(k,)``, as :func:`anchored.imbalance.counts` makes them.
        generator: Source of randomness; without one the draw is that of seed 0. From the same
            state, smaller counts give a subset of what larger ones give.

    Returns:
        Indices ``(sum(counts),)`` in increasing order, int64.

    Example:
        >>> import torch
        >>> labels = torch.tensor([0, 1, 0, 1, 1, 0])
        >>> labels[subset(labels, (3, 1))].bincount()
        tensor([3, 1])
    """
    keep = checked_counts(counts)
    labels = check_labels(labels, keep.numel())
    sizes = torch.bincount(labels, minlength=keep.numel()).cpu()
    short = (sizes < keep).nonzero().squeeze(1).tolist()
    if short:
        j = short[0]
        raise InputError(
            f"counts asks for {int(keep[j])} samples of class {j}, but labels holds {int(sizes[j])}"
            f"{f' ({len(short)} classes are too small)' if len(short) > 1 else ''}; lower n_max or rho"
        )
    here = labels.cpu()
    shuffled = torch.randperm(here.numel(), generator=generator_or_default(generator))
    by_class = shuffled[here[shuffled].argsort(stable=True)]  # class after class, each in random order
    grouped = here[by_class]
    place = torch.arange(here.numel()) - (sizes.cumsum(0) - sizes)[grouped]
    return by_class[place < keep[grouped]].sort().values.to(labels.device)

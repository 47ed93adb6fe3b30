r"""A part held out for calibration: the same share of every class, and never a class's last sample.

Of class j with :math:`n_j` samples :math:`\lfloor f n_j \rfloor` are held out; the samples still missing from
:math:`f n` go to the classes with the largest remainders, as seats in an election do.
"""

from __future__ import annotations

import torch
from torch import Tensor

from anchored._checks import check_real
from anchored._errors import InputError
from anchored._random import stream
from anchored.data.dataset import Dataset

__all__ = ["held_out_mask", "hold_out"]


def hold_out(dataset: Dataset, fraction: float, seed: int) -> tuple[Dataset, Dataset]:
    r"""Split a data set into a training part and a held-out part.

    Of class j with :math:`n_j` samples :math:`\lfloor f n_j \rfloor` are held out, and the rest of :math:`f n` from the
    classes with the largest remainders; never a class's last sample.

    Args:
        dataset: The data to split; every sample must have a label.
        fraction: Share f to hold out, in ``(0, 1)``.
        seed: Seed of the run; it decides which samples.

    Returns:
        The training part and the held-out part, both in the order of ``dataset``.

    Raises:
        InputError: If a sample has no label, or nothing would be held out.

    Example:
        >>> from anchored.data import load_digits
        >>> train, held = hold_out(load_digits().train, 0.1, seed=0)
        >>> len(train), len(held)
        (1293, 144)
    """
    held = held_out_mask(dataset, fraction, seed)
    return dataset.subset((~held).nonzero()[:, 0]), dataset.subset(held.nonzero()[:, 0])


def held_out_mask(dataset: Dataset, fraction: float, seed: int) -> Tensor:
    """Choose the samples that :func:`hold_out` holds out.

    Args:
        dataset: The data to split; every sample must have a label.
        fraction: Share to hold out, in ``(0, 1)``.
        seed: Seed of the run.

    Returns:
        ``(n,)`` bool, True for those held out.

    Raises:
        InputError: If a sample has no label, or nothing would be held out.

    Example:
        >>> from anchored.data import load_digits
        >>> int(held_out_mask(load_digits().train, 0.1, seed=0).sum())
        144
    """
    check_real("fraction", fraction, low=0, high=1, closed="neither", way_out="a tenth is usual")
    if not dataset.labelled:
        raise InputError(f"{dataset.name}: a part can be held out only where every sample has a label")
    counts = dataset.counts
    exact = counts.to(torch.float64) * fraction
    room = (counts - 1).clamp(min=0)
    quota = torch.minimum(exact.floor().to(torch.int64), room)
    missing = round(fraction * len(dataset)) - int(quota.sum())
    remainder = torch.where(quota < room, exact - quota, -1.0)
    for j in remainder.argsort(descending=True, stable=True)[: max(missing, 0)].tolist():
        quota[j] += int(remainder[j] > 0)
    shuffled = torch.randperm(len(dataset), generator=stream(seed, "holdout"))
    grouped = shuffled[dataset.labels[shuffled].argsort(stable=True)]
    labels = dataset.labels[grouped]
    place = torch.arange(len(dataset)) - (counts.cumsum(0) - counts)[labels]
    held = torch.zeros(len(dataset), dtype=torch.bool)
    held[grouped[place < quota[labels]]] = True
    if not held.any():
        way_out = "raise it" if bool((counts > 1).any()) else "give each class more than one sample"
        raise InputError(f"{dataset.name}: holding out {fraction:g} of {len(dataset)} samples gives none; {way_out}")
    return held

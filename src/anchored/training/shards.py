"""Which samples of each batch a process takes: every sample of the epoch once, over all processes together.

A batch is cut into one part per process, so two processes with a batch of 128 see 64 samples each and
take the same steps as one process with 128. If the last batch cannot be cut evenly, the shorter
parts are filled up with samples of weight zero, because all processes must take part in every step.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored.data import occurrences

__all__ = ["Shard", "shard"]


@dataclass(frozen=True)
class Shard:
    """One process's part of an epoch.

    Attributes:
        order: Sample indices ``(m,)``, batch after batch.
        occurrence: How often each of them came before in the epoch, over all processes, ``(m,)``.
        counts: Whether each of them counts, ``(m,)``, or None if all do.
        batch_size: How many of them make a batch.
        totals: The weight of each whole batch over all processes, ``(batches,)`` float64.
    """

    order: Tensor
    occurrence: Tensor
    counts: Tensor | None
    batch_size: int
    totals: Tensor

    def __len__(self) -> int:
        return len(self.totals)


def shard(
    order: Tensor, batch_size: int, *, weights: Tensor | None = None, rank: int = 0, world_size: int = 1
) -> Shard:
    """Choose the part of ``order`` that process ``rank`` of ``world_size`` takes.

    Args:
        order: The epoch's sample indices ``(n,)``.
        batch_size: Samples per step over all processes; a multiple of ``world_size``.
        weights: ``(size of the data set,)``, how much each sample counts; None for one each.
        rank: Which process.
        world_size: How many processes.

    Returns:
        This process's samples, and the weight of each whole batch.

    Raises:
        InputError: The batch cannot be divided among the processes.

    Example:
        >>> parts = [shard(torch.arange(10), 4, rank=r, world_size=2) for r in range(2)]
        >>> [part.order.tolist() for part in parts]
        [[0, 2, 4, 6], [1, 3, 5, 7]]
        >>> parts[0].totals
        tensor([4., 4.], dtype=torch.float64)

    The last two of the ten samples wait for other epochs: a part of one sample has no batch statistics.
    """
    if batch_size % world_size:
        raise InputError(
            f"batch_size must be a multiple of the number of processes, {world_size}, got {batch_size}; "
            f"use {max(1, batch_size // world_size) * world_size}"
        )
    whole = len(order) // batch_size * batch_size
    if whole and len(order) - whole < 2 * world_size:
        order = order[:whole]
    length = -(-len(order) // world_size)
    places = torch.arange(rank, length * world_size, world_size)
    counts = places < len(order)
    places = places.clamp(max=len(order) - 1)
    return Shard(
        order=order[places],
        occurrence=occurrences(order)[places],
        counts=None if bool(counts.all()) else counts,
        batch_size=batch_size // world_size,
        totals=_totals(order, batch_size, weights),
    )


def _totals(order: Tensor, batch_size: int, weights: Tensor | None) -> Tensor:
    each = torch.ones(len(order), dtype=torch.float64) if weights is None else weights.to(torch.float64)[order]
    batches = -(-len(order) // batch_size)
    padded = torch.zeros(batches * batch_size, dtype=torch.float64)
    padded[: len(order)] = each
    return padded.view(batches, batch_size).sum(dim=1)

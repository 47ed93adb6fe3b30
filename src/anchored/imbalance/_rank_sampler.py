"""One rank's part of an epoch: every ``world_size``-th index of an order that all ranks agree on.

No rank talks to another: the order is a function of (seed, epoch), so each computes the whole of it
and takes its own part. Where the length is not a multiple of the world size, either the order is
continued from its own beginning until it is (fewer than ``world_size`` indices are then seen once
more), or its last few indices are left out of this epoch (``drop_last``). So all ranks make the
same number of steps, which collective operations need.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.utils.data import Sampler

from anchored._checks import check_integer, check_labels
from anchored._errors import InputError
from anchored.imbalance._order import Sampling, epoch_order

__all__ = ["RankSampler"]


class RankSampler(Sampler[int]):
    """A sampler for ``torch.utils.data.DataLoader`` that is right and repeatable under several ranks.

    Args:
        labels: Labels of the whole data set ``(n,)``, the same on every rank.
        sampling: How often each class is seen, see :func:`anchored.imbalance.epoch_order`.
        seed: The run's seed, the same on every rank.
        rank: Which part this is, in ``0..world_size-1``.
        world_size: Number of parts.
        length: Indices per epoch over all ranks; by default ``n``.
        drop_last: Leave out the end of the order instead of repeating its beginning.

    Call :meth:`set_epoch` before each epoch, as for torch's ``DistributedSampler``.

    Example:
        >>> import torch
        >>> parts = [RankSampler(torch.zeros(6, dtype=torch.int64), seed=0, rank=r, world_size=2) for r in (0, 1)]
        >>> len(parts[0]), sorted([*parts[0], *parts[1]])
        (3, [0, 1, 2, 3, 4, 5])
    """

    def __init__(
        self,
        labels: Tensor,
        *,
        sampling: Sampling = "instance",
        seed: int,
        rank: int = 0,
        world_size: int = 1,
        length: int | None = None,
        drop_last: bool = False,
    ) -> None:
        self.labels = check_labels(labels).cpu()
        self.sampling = sampling
        self.seed = seed
        self.world_size = check_integer("world_size", world_size, low=1)
        self.rank = check_integer("rank", rank, low=0, high=self.world_size - 1)
        self.length = self.labels.numel() if length is None else check_integer("length", length, low=1)
        self.drop_last = drop_last
        self.epoch = 0
        if drop_last and self.length < self.world_size:
            raise InputError(
                f"drop_last leaves nothing of {self.length} samples for {self.world_size} ranks; use fewer ranks"
            )
        # Orders are drawn when iterated; a bad name, seed or an empty set should be refused here.
        epoch_order(self.labels[:1], sampling=sampling, seed=seed, epoch=0)

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch whose order the next iteration follows."""
        self.epoch = check_integer("epoch", epoch, low=0)

    def indices(self) -> Tensor:
        """This rank's indices of the current epoch ``(len(self),)``."""
        order = epoch_order(self.labels, sampling=self.sampling, seed=self.seed, epoch=self.epoch, length=self.length)
        # Modulo the length: past its end the order continues from its beginning.
        place = torch.arange(self.rank, len(self) * self.world_size, self.world_size) % self.length
        return order[place]

    def __iter__(self) -> Iterator[int]:
        return iter(self.indices().tolist())

    def __len__(self) -> int:
        if self.drop_last:
            return self.length // self.world_size
        return -(-self.length // self.world_size)

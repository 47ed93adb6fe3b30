r"""The order of an epoch: which sample comes when, as a function of the seed and the epoch alone.

A sampling says how often a class is seen. With :math:`n_j` samples in class j,

================  =============================================================================
instance          every sample once: class j in proportion to :math:`n_j`
square-root       :math:`p_j \propto \sqrt{n_j}`
balanced          :math:`p_j = 1/k`, in cycles: each cycle visits every class once, in random order
effective-number  :math:`p_j \propto n_j / E_j`, :math:`E_j = (1-\beta^{n_j})/(1-\beta)`, :math:`\beta = 0.9999`
reversed          :math:`p_j \propto 1/n_j`
================  =============================================================================

Within a class, samples come in random order and none comes twice before all have come once; then the
class is shuffled again. Classes without samples are never drawn.

With several ranks no rank talks to another: each computes the whole order and takes its own part of it.

The class-aware sampler of Kang et al. and their followers is balanced sampling with four samples of a class in a row
(``class_run=4``), so that a batch of 128 holds 32 classes; here a cycle takes one.

References:
    Kang et al., 2020. Decoupling Representation and Classifier for Long-Tailed Recognition. ICLR.
    Zhou et al., 2020. BBN: Bilateral-Branch Network for Long-Tailed Visual Recognition. CVPR (reversed).
    Cao et al., 2019. Learning Imbalanced Datasets with Label-Distribution-Aware Margin Loss. NeurIPS
    (effective-number).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Literal

import torch
from torch import Tensor
from torch.utils.data import Sampler

from anchored._checks import check_integer, check_labels
from anchored._errors import InputError
from anchored._names import choose
from anchored._random import stream

__all__ = ["RankSampler", "Sampling", "class_probabilities", "epoch_order"]

Sampling = Literal["instance", "balanced", "square-root", "reversed", "effective-number"]

_BETA = 0.9999
_WEIGHTS: dict[str, Callable[[Tensor], Tensor]] = {
    "instance": lambda n: n,
    "square-root": lambda n: n.sqrt(),
    "balanced": torch.ones_like,
    # n / E_j up to a constant; expm1 because 1 - beta**n cancels for small n.
    "effective-number": lambda n: n / -torch.expm1(n * math.log(_BETA)),
    "reversed": lambda n: 1 / n,
}


def class_probabilities(counts: Tensor, sampling: Sampling) -> Tensor:
    """Return the share of an epoch that each class gets under a sampling.

    Args:
        counts: Samples per class ``(k,)``.
        sampling: One of the names in the table of this module: ``"square-root"`` is ``p_j ∝ sqrt(n_j)``, and so on.

    Returns:
        Shares ``(k,)``, float64; 0 for an empty class.

    Example:
        >>> import torch
        >>> class_probabilities(torch.tensor([90, 0, 10]), "reversed")
        tensor([0.1000, 0.0000, 0.9000], dtype=torch.float64)
    """
    weight = choose(sampling, _WEIGHTS, what="sampling")
    present = counts > 0
    shares = torch.zeros(counts.shape, dtype=torch.float64)
    shares[present] = weight(counts[present].double())
    return shares / shares.sum()


def epoch_order(
    labels: Tensor,
    *,
    sampling: Sampling = "instance",
    seed: int,
    epoch: int,
    length: int | None = None,
    class_run: int = 1,
) -> Tensor:
    """Return the indices of one epoch, for all ranks together.

    Args:
        labels: Labels ``(n,)``, non-negative integers.
        sampling: How often each class is seen: ``"instance"`` (every sample once), ``"square-root"``, ``"balanced"``,
            ``"effective-number"`` or ``"reversed"``.
        seed: Seed of the run.
        epoch: Number of the epoch, from 0; the same (seed, epoch) gives the same order, always.
        length: How many indices; by default ``n``, so that epochs of all samplings take as long.
        class_run: Samples of one class in a row under ``"balanced"``; the other samplings do not use it.

    Returns:
        Indices ``(length,)``, int64. For ``"instance"`` and the default length, a permutation.

    Example:
        >>> import torch
        >>> labels = torch.tensor([0, 0, 0, 0, 0, 0, 1, 1])
        >>> labels[epoch_order(labels, sampling="balanced", seed=0, epoch=0)].bincount()
        tensor([4, 4])
    """
    labels = check_labels(labels).cpu()
    if labels.numel() == 0:
        raise InputError("labels must hold at least one label, got none")
    epoch = check_integer("epoch", epoch, low=0)
    length = labels.numel() if length is None else check_integer("length", length, low=1)
    class_run = check_integer("class_run", class_run, low=1)
    choose(sampling, _WEIGHTS, what="sampling")
    generator = stream(check_integer("seed", seed, low=0), "order", epoch)
    if sampling == "instance":  # one class of all samples
        return _members(torch.zeros_like(labels), torch.zeros(length, dtype=torch.int64), generator)
    sizes = torch.bincount(labels)
    if sampling == "balanced":
        return _members(labels, _cycles(sizes, length, class_run, generator), generator)
    shares = class_probabilities(sizes, sampling)
    return _members(labels, torch.multinomial(shares, length, replacement=True, generator=generator), generator)


class RankSampler(Sampler[int]):
    """A sampler for ``torch.utils.data.DataLoader`` that is right and repeatable under several ranks.

    Each rank takes every ``world_size``-th index of an order that all ranks agree on. If the length is not a multiple
    of the world size, either the order is continued from its own beginning until it is (fewer than ``world_size``
    indices are then seen twice), or its last few indices are left out of this epoch (``drop_last``). So all ranks make
    the same number of steps, which collective operations need.

    Call :meth:`set_epoch` before each epoch, as for torch's ``DistributedSampler``.

    Args:
        labels: Labels of the whole data set ``(n,)``, the same on every rank.
        sampling: How often each class is seen, see :func:`anchored.imbalance.epoch_order`.
        seed: Seed of the run, the same on every rank.
        rank: Which part this is, in ``0..world_size-1``.
        world_size: Number of parts.
        length: Indices per epoch over all ranks; by default ``n``.
        drop_last: Leave out the end of the order instead of repeating its beginning.

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
        """Return this rank's indices of the current epoch, ``(len(self),)``."""
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


def _cycles(sizes: Tensor, length: int, class_run: int, generator: torch.Generator) -> Tensor:
    """Classes ``(length,)``: one random permutation of those that have samples after another, each class so often."""
    present = sizes.nonzero().squeeze(1)
    rounds = -(-length // (present.numel() * class_run))
    order = torch.rand(rounds, present.numel(), generator=generator).argsort(dim=1)
    return present[order].flatten().repeat_interleave(class_run)[:length]


def _members(labels: Tensor, classes: Tensor, generator: torch.Generator) -> Tensor:
    """Return one sample of each class of the sequence ``classes`` ``(length,)``, as indices.

    Every class that is visited v times gets a deck of ceil(v / n_j) shuffles of its samples, laid
    end to end; the i-th visit takes the i-th card.
    """
    sizes = torch.bincount(labels)
    visits = torch.bincount(classes, minlength=sizes.numel())
    rounds = -(-visits // sizes.clamp(min=1))  # rounded up; 0 for an empty class, which is never visited
    deck_class = torch.repeat_interleave(rounds)  # (shuffles,): the class of each shuffle
    deck_size = sizes[deck_class]
    shuffle = torch.repeat_interleave(deck_size)  # (cards,): the shuffle that each card belongs to
    card = torch.arange(shuffle.numel())
    first_of_class = sizes.cumsum(0) - sizes
    members = labels.argsort(stable=True)  # class after class
    cards = members[(first_of_class[deck_class] - (deck_size.cumsum(0) - deck_size))[shuffle] + card]
    mixed = torch.randperm(cards.numel(), generator=generator)
    cards = cards[mixed[shuffle[mixed].argsort(stable=True)]]  # shuffled, each shuffle in its own place

    dealt = rounds * sizes
    by_class = classes.argsort(stable=True)  # a class's visits in the order in which they happen
    visit = torch.arange(classes.numel()) - (visits.cumsum(0) - visits)[classes[by_class]]
    order = torch.empty_like(classes)
    order[by_class] = cards[(dealt.cumsum(0) - dealt)[classes[by_class]] + visit]
    return order

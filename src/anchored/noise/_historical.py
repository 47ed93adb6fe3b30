"""Published procedures that do not do what their papers say, kept to reproduce the papers' numbers.

``apl_sequential`` flips CIFAR-10 class by class in place: at 0.4 about 1200 of 5000 cats and 2000 of
5000 dogs end up wrong, where 2000 of each were meant. ``index_blocks`` turns each CIFAR-100 class
into the next one of five consecutive fine labels, where the papers speak of superclasses.

References:
    Ma et al., 2020. Normalized Loss Functions for Deep Learning with Noisy Labels. ICML.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from anchored.noise._asymmetric import asymmetric
from anchored.noise._corruption import Corruption

__all__ = ["apl_sequential", "index_blocks"]


def apl_sequential(
    labels: Tensor,
    eta: float,
    mapping: Mapping[int, int] | str = "cifar10",
    *,
    k: int | None = None,
    generator: torch.Generator | None = None,
) -> Corruption:
    """Flip ``floor(eta count)`` of each source class in turn, counting the labels as they are by then.

    Short for ``asymmetric(labels, eta, mapping, mode="apl_sequential")``.

    Example:
        >>> import torch
        >>> receipt = apl_sequential(torch.arange(10).repeat_interleave(5000), 0.4)
        >>> cat, dog = receipt.per_class[3], receipt.per_class[5]
        >>> round(cat, 1), round(dog, 1)
        (0.2, 0.4)
    """
    return asymmetric(labels, eta, mapping, k=k, generator=generator, mode="apl_sequential")


def index_blocks(labels: Tensor, eta: float, *, generator: torch.Generator | None = None) -> Corruption:
    """CIFAR-100 labels, each moved with probability ``eta`` to the next of its block of five indices.

    Short for ``asymmetric(labels, eta, "cifar100_index_blocks", mode="iid")``.

    Example:
        >>> import torch
        >>> receipt = index_blocks(torch.full((1000,), 4), 0.4)
        >>> sorted(set(receipt.labels.tolist()))
        [0, 4]
    """
    return asymmetric(labels, eta, "cifar100_index_blocks", generator=generator, mode="iid")

"""Published class confusions: which class is mistaken for which, as ``{source: target}``.

MNIST and CIFAR-10 follow look-alikes; CIFAR-100 turns every class into the next one of its own
superclass. The references cut CIFAR-100 into blocks of five consecutive fine labels instead,
which are alphabetical neighbours and not superclasses; that map is kept as
``"cifar100_index_blocks"``.

References:
    Patrini et al., 2017. Making Deep Neural Networks Robust to Label Noise: a Loss Correction
    Approach. CVPR.
    Ma et al., 2020. Normalized Loss Functions for Deep Learning with Noisy Labels. ICML.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["CIFAR100_SUPERCLASS", "MAPPINGS", "NamedMapping"]

CIFAR100_SUPERCLASS = (
    *(4, 1, 14, 8, 0, 6, 7, 7, 18, 3, 3, 14, 9, 18, 7, 11, 3, 9, 7, 11),
    *(6, 11, 5, 10, 7, 6, 13, 15, 3, 15, 0, 11, 1, 10, 12, 14, 16, 9, 11, 5),
    *(5, 19, 8, 8, 15, 13, 14, 17, 18, 10, 16, 4, 17, 4, 2, 0, 17, 4, 18, 17),
    *(10, 3, 2, 12, 12, 16, 12, 1, 9, 19, 2, 10, 0, 1, 16, 12, 9, 13, 15, 13),
    *(16, 19, 2, 4, 6, 19, 5, 5, 8, 19, 18, 1, 2, 15, 6, 0, 17, 8, 14, 13),
)
"""Superclass of each of CIFAR-100's fine labels, as in the data set's own files."""


class NamedMapping(NamedTuple):
    """A confusion of one data set: its number of classes, and the target of each source class."""

    k: int
    targets: Mapping[int, int]


def cycle_within(groups: tuple[int, ...]) -> dict[int, int]:
    """Send every class to the next class of its group, and the last one to the first.

    Example:
        >>> cycle_within((0, 1, 0, 1, 0))
        {0: 2, 2: 4, 4: 0, 1: 3, 3: 1}
    """
    members = [[c for c, group in enumerate(groups) if group == g] for g in sorted(set(groups))]
    return {c: of[(i + 1) % len(of)] for of in members for i, c in enumerate(of)}


MAPPINGS: Mapping[str, NamedMapping] = MappingProxyType(
    {
        "mnist": NamedMapping(10, MappingProxyType({7: 1, 2: 7, 5: 6, 6: 5, 3: 8})),
        # truck -> automobile, bird -> airplane, cat <-> dog, deer -> horse; the order matters to apl_sequential.
        "cifar10": NamedMapping(10, MappingProxyType({9: 1, 2: 0, 3: 5, 5: 3, 4: 7})),
        "cifar100": NamedMapping(100, MappingProxyType(cycle_within(CIFAR100_SUPERCLASS))),
        "cifar100_index_blocks": NamedMapping(100, MappingProxyType(cycle_within(tuple(c // 5 for c in range(100))))),
    }
)

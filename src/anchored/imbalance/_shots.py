"""Many-, medium- and few-shot classes: the groups that long-tailed accuracy is reported by.

Two rules are in print, and they do not agree. By *threshold*, many is more than 100 training
samples, medium 20 to 100, few under 20. By *fixed shares of the ranking* (MiSLAS), the classes are
ranked by size and cut at 3/4/3 of 10, 36/35/29 of 100 and 390/445/165 of 1000, whatever the sizes.

References:
    Liu et al., 2019. Large-Scale Long-Tailed Recognition in an Open World. CVPR.
    Zhong et al., 2021. Improving Calibration for Long-Tailed Recognition. CVPR.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored._names import choose

__all__ = ["Shots", "checked_counts", "shots"]


@dataclass(frozen=True)
class Shots(Mapping[str, tuple[int, ...]]):
    """Class indices by group, in increasing order; read as attributes or as a mapping.

    Example:
        >>> groups = Shots(many=(0,), medium=(1, 2), few=())
        >>> groups.medium, groups["few"], list(groups)
        ((1, 2), (), ['many', 'medium', 'few'])
    """

    many: tuple[int, ...]
    medium: tuple[int, ...]
    few: tuple[int, ...]

    def __getitem__(self, group: str) -> tuple[int, ...]:
        if group not in list(self):
            raise KeyError(group)
        members: tuple[int, ...] = getattr(self, group)
        return members

    def __iter__(self) -> Iterator[str]:
        return (field.name for field in fields(self))

    def __len__(self) -> int:
        return 3


def shots(counts: Sequence[int] | Tensor, rule: Literal["threshold", "mislas"] = "threshold") -> Shots:
    """Classes of many, medium and few training samples.

    Args:
        counts: Training samples per class ``(k,)``.
        rule: ``"threshold"`` (more than 100, 20 to 100, under 20) or ``"mislas"`` (fixed shares of
            the ranking by size, for 10, 100 and 1000 classes; equal sizes rank by class index).

    Example:
        >>> shots((500, 100, 20, 19))
        Shots(many=(0,), medium=(1, 2), few=(3,))
        >>> [len(group) for group in shots(range(100, 0, -1), rule="mislas").values()]
        [36, 35, 29]
    """
    group = choose(rule, _RULES, what="rule for shots")(checked_counts(counts))
    many, medium, few = (tuple((group == g).nonzero().squeeze(1).tolist()) for g in range(3))
    return Shots(many, medium, few)


def checked_counts(counts: Sequence[int] | Tensor) -> Tensor:
    """Samples per class as an int64 tensor ``(k,)`` of non-negative numbers."""
    sizes = torch.as_tensor(counts if isinstance(counts, Tensor) else list(counts)).cpu()
    if sizes.ndim != 1 or sizes.numel() == 0:
        raise InputError(f"counts must hold one number per class, got shape {tuple(sizes.shape)}")
    whole = not sizes.is_floating_point() and not sizes.is_complex() and sizes.dtype != torch.bool
    if not whole or int(sizes.min()) < 0:
        raise InputError(f"counts must be whole numbers of samples, at least 0, got {sizes.tolist()[:5]} ...")
    return sizes.to(torch.int64)


def _threshold(sizes: Tensor) -> Tensor:
    return (sizes <= 100).long() + (sizes < 20).long()


_SHARES = {10: (3, 4), 100: (36, 35), 1000: (390, 445)}  # many, medium; the rest is few


def _mislas(sizes: Tensor) -> Tensor:
    k = sizes.numel()
    if k not in _SHARES:
        raise InputError(f'rule "mislas" is defined for 10, 100 and 1000 classes, got k = {k}; use rule "threshold"')
    many, medium = _SHARES[k]
    rank = sizes.argsort(descending=True, stable=True).argsort()
    return (rank >= many).long() + (rank >= many + medium).long()


_RULES: dict[str, Callable[[Tensor], Tensor]] = {"threshold": _threshold, "mislas": _mislas}

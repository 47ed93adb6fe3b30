"""The size of each class: under an imbalance ratio, in a subset of the data, and grouped into many, medium and few.

References:
    Cui et al., 2019. Class-Balanced Loss Based on Effective Number of Samples. CVPR.
    Cao et al., 2019. Learning Imbalanced Datasets with Label-Distribution-Aware Margin Loss. NeurIPS.
    Liu et al., 2019. Large-Scale Long-Tailed Recognition in an Open World. CVPR.
    Zhong et al., 2021. Improving Calibration for Long-Tailed Recognition. CVPR.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal

import torch
from torch import Tensor

from anchored._checks import check_integer, check_labels, check_real
from anchored._errors import InputError
from anchored._names import choose
from anchored._random import generator_or_default

__all__ = ["Shots", "checked_counts", "counts", "shots", "subset"]


def counts(n_max: int, k: int, rho: float, kind: Literal["longtail", "step"] = "longtail") -> tuple[int, ...]:
    r"""Return the samples per class under an imbalance ratio: a long tail, or a step.

    .. math::  n_j = \lfloor n_{\max}\, \rho^{-j/(k-1)} \rfloor \quad\text{(long tail)},
               \qquad
               n_j = n_{\max} \text{ for } j < \lfloor k/2 \rfloor,\
               \lfloor n_{\max}/\rho \rfloor \text{ otherwise (step)}.

    Classes stay in their natural order, the largest first. The references state the factor
    :math:`f = 1/\rho` (0.01); here it is always the ratio (100).

    Args:
        n_max: Samples of the largest class, e.g. 5000 for CIFAR-10 and 500 for CIFAR-100.
        k: Number of classes.
        rho: Largest over smallest class, from 1 (balanced) to ``n_max`` (a last class of one sample).
        kind: ``"longtail"`` falls geometrically; ``"step"`` keeps the first ``k // 2`` classes whole.

    Returns:
        One number per class, from ``n_max`` down to ``floor(n_max / rho)``.

    Example:
        >>> counts(5000, 10, 100)
        (5000, 2997, 1796, 1077, 645, 387, 232, 139, 83, 50)
        >>> sum(counts(500, 100, 100)), counts(500, 4, 10, kind="step")
        (10847, (500, 500, 50, 50))
    """
    n_max = check_integer("n_max", n_max, low=1)
    k = check_integer("k", k, low=2)
    rho = check_real(
        "rho",
        rho,
        low=1,
        high=n_max,
        way_out=f"it is the ratio largest / smallest class (100, not 0.01), and at most n_max = {n_max} "
        f"leaves every class a sample",
    )
    return choose(kind, _KINDS, what="kind of imbalance")(n_max, k, rho)


def _truncated(share: float) -> int:
    # 49 * 49 ** -1.0 is 0.9999999999999999: rounding must not cost a sample where the product is whole.
    return math.floor(share * (1 + 1e-12))


def _longtail(n_max: int, k: int, rho: float) -> tuple[int, ...]:
    return tuple(_truncated(n_max * rho ** (-j / (k - 1))) for j in range(k))


def _step(n_max: int, k: int, rho: float) -> tuple[int, ...]:
    return (n_max,) * (k // 2) + (_truncated(n_max / rho),) * (k - k // 2)


_KINDS: dict[str, Callable[[int, int, float], tuple[int, ...]]] = {"longtail": _longtail, "step": _step}


def subset(labels: Tensor, counts: Sequence[int] | Tensor, *, generator: torch.Generator | None = None) -> Tensor:
    """Draw the indices of ``counts[j]`` samples of every class j, every such subset being equally likely.

    Args:
        labels: Labels ``(n,)``, integers in ``0..k-1``.
        counts: Samples to keep per class ``(k,)``, as :func:`anchored.imbalance.counts` makes them.
        generator: Source of randomness; None means seed 0. From the same
            state, smaller counts give a subset of what larger ones give.

    Returns:
        Indices ``(sum(counts),)`` in increasing order, int64.

    Raises:
        InputError: If a class has fewer samples than asked for.

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


@dataclass(frozen=True)
class Shots(Mapping[str, tuple[int, ...]]):
    """Class indices by group, in increasing order; read them as attributes or as a mapping.

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
    """Group classes into many, medium and few training samples, as long-tailed accuracy is reported.

    Two rules are in print, and they do not agree.

    Args:
        counts: Training samples per class ``(k,)``.
        rule: ``"threshold"`` (Liu et al.): more than 100, 20 to 100, under 20. ``"mislas"`` (Zhong et al.): fixed
            shares of the ranking by size, 3/4/3 of 10, 36/35/29 of 100 and 390/445/165 of 1000 classes, whatever the
            sizes; equal sizes rank by class index.

    Returns:
        The class indices of each group.

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
    """Return samples per class as an int64 tensor ``(k,)`` of non-negative numbers."""
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

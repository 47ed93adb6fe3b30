"""Accuracy of the many-, medium- and few-shot classes: unweighted means of per-class accuracies.

References:
    Liu et al., 2019. Large-Scale Long-Tailed Recognition in an Open World. CVPR.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored.imbalance import shots
from anchored.metrics._accuracy import per_class_accuracy

__all__ = ["ShotAccuracy", "shot_accuracy"]

_NAMES = ("many", "medium", "few", "all")


@dataclass(frozen=True)
class ShotAccuracy(Mapping[str, float | None]):
    """Accuracy by group of classes; read it as attributes or as a mapping of the four names.

    Attributes:
        many: Mean accuracy of the many-shot classes, ``None`` if none of them was tested.
        medium: The same for the medium-shot classes.
        few: The same for the few-shot classes.
        all: Mean accuracy of all classes that were tested.
        classes: Number of classes behind each mean, in the order of the four names.
    """

    many: float | None
    medium: float | None
    few: float | None
    all: float | None
    classes: tuple[int, int, int, int]

    def __getitem__(self, group: str) -> float | None:
        if group not in _NAMES:
            raise KeyError(group)
        value: float | None = getattr(self, group)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


def shot_accuracy(
    scores: Tensor,
    target: Tensor,
    counts: Sequence[int] | Tensor,
    rule: Literal["threshold", "mislas"] = "threshold",
) -> ShotAccuracy:
    """Return the accuracy of the many-, medium- and few-shot classes, every class with the same weight.

    The accuracy of a group is ``sum_j accuracy_j / #classes`` over its classes that have test samples.

    Args:
        scores: Logits or probabilities ``(n, k)``, or predicted labels ``(n,)``.
        target: True labels ``(n,)`` of the test samples, or their probabilities ``(n, k)``.
        counts: *Training* samples per class ``(k,)``.
        rule: How classes are grouped, see :func:`anchored.imbalance.shots`.

    Returns:
        The four means. Classes without test samples are left out; a group without any is ``None``.

    Example:
        >>> import torch
        >>> got = shot_accuracy(torch.tensor([0, 0, 1, 0]), torch.tensor([0, 0, 1, 1]), counts=(500, 5))
        >>> dict(got), got.classes
        ({'many': 1.0, 'medium': None, 'few': 0.5, 'all': 0.75}, (1, 0, 1, 2))
    """
    groups = shots(counts, rule)
    k = len(counts)
    scores = torch.as_tensor(scores)
    if scores.ndim == 2 and scores.shape[1] != k:
        raise InputError(f"counts must hold one number per class, got {k} for scores of {scores.shape[1]} classes")
    by_class = per_class_accuracy(scores, target, k)
    tested = [[a for j in group if (a := by_class[j]) is not None] for group in groups.values()]
    tested.append([a for a in by_class if a is not None])
    many, medium, few, everything = (sum(of) / len(of) if of else None for of in tested)
    sizes = (len(tested[0]), len(tested[1]), len(tested[2]), len(tested[3]))
    return ShotAccuracy(many, medium, few, everything, sizes)

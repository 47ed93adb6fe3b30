r"""A staircase: from milestone :math:`m_i` on, the rate is :math:`c_i` times the base rate.

.. math::  f(t) = c_i \quad\text{for } m_i \le t < m_{i+1}, \qquad f(t) = 1 \quad\text{for } t < m_1.

The factors refer to the base rate, not to the step before: LDAM's drops to 0.01 and then 0.0001,
MiSLAS's to 0.1 and then 0.01. Where one factor is applied again and again,
:meth:`MultiStep.repeated` writes the powers.

Over another number of epochs the milestones move to the same share of the run. They need not be
whole: a milestone at 5.6 takes effect at the next whole epoch, the sixth counted from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar, Self

from anchored._checks import check_real
from anchored._errors import InputError
from anchored.schedules._base import Schedule, check_epochs, scaled

__all__ = ["MultiStep"]


@dataclass(frozen=True, kw_only=True)
class MultiStep(Schedule):
    """Steps at milestones.

    Args:
        epochs: Length of the run that the milestones are meant for.
        milestones: Epochs at which the rate changes, rising, each in ``(0, epochs)``.
        factors: The factor of the base rate from each milestone on.

    Example:
        >>> steps = MultiStep(epochs=200, milestones=(160, 180), factors=(0.01, 0.0001))
        >>> [steps(epoch) for epoch in (0, 159, 160, 179, 180, 199)]
        [1.0, 1.0, 0.01, 0.01, 0.0001, 0.0001]
        >>> steps.for_epochs(20).milestones
        (16.0, 18.0)
    """

    name: ClassVar[str] = "multi-step"
    epochs: int
    milestones: Sequence[float]
    factors: Sequence[float]

    def __post_init__(self) -> None:
        check_epochs(self.epochs)
        for field in ("milestones", "factors"):
            object.__setattr__(self, field, _numbers(field, getattr(self, field)))
        if len(self.milestones) != len(self.factors):
            raise InputError(
                f"milestones and factors must be equally many, got {len(self.milestones)} and {len(self.factors)}; "
                "for powers of one factor use MultiStep.repeated"
            )
        bounds = (0.0, *self.milestones, float(self.epochs))
        if any(later <= earlier for earlier, later in pairwise(bounds)):
            raise InputError(
                f"milestones must rise within (0, {self.epochs}), got {list(self.milestones)}; "
                "use for_epochs to fit a schedule to another length"
            )
        for factor in self.factors:
            check_real("every entry of factors", factor, low=0, way_out="factors refer to the base rate")

    @classmethod
    def repeated(cls, *, epochs: int, milestones: Sequence[float], gamma: float) -> Self:
        """Multiply by ``gamma`` at each milestone, as torch's ``MultiStepLR`` does.

        Example:
            >>> MultiStep.repeated(epochs=30, milestones=(10, 20), gamma=0.5).factors
            (0.5, 0.25)
        """
        return cls(epochs=epochs, milestones=milestones, factors=[gamma ** (i + 1) for i in range(len(milestones))])

    def factor(self, epoch: float) -> float:
        """See the head of this file."""
        reached = [
            factor for milestone, factor in zip(self.milestones, self.factors, strict=True) if epoch >= milestone
        ]
        return reached[-1] if reached else 1.0

    def for_epochs(self, epochs: int) -> Self:
        """The same steps at the same shares of ``epochs``."""
        check_epochs(epochs)
        return replace(self, epochs=epochs, milestones=[scaled(m, self.epochs, epochs) for m in self.milestones])


def _numbers(field: str, values: object) -> tuple[float, ...]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InputError(f"{field} must be a list of numbers, got {values!r}; write [160, 180]")
    return tuple(check_real(f"every entry of {field}", value) for value in values)

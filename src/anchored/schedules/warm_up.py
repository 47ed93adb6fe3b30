r"""A linear rise before another schedule takes over; the two are multiplied, the other is not shifted.

With :math:`w` warm-up epochs there are two customs:

.. math::  f(t) = g(t)\,\min\!\Big(1, \frac{t + 1}{w}\Big)
           \qquad\text{or}\qquad
           f(t) = g(t)\,\min\!\Big(1, s + (1 - s)\frac{t}{w}\Big).

The first (``start=None``) is that of LDAM, MiSLAS and TADE: a fifth, two fifths … of the rate when
:math:`w = 5`, the full one in the fifth epoch. The second is that of BBN and LADE with
:math:`s = 1/3`: the full rate in the sixth epoch.

Over another number of epochs the warm-up keeps its share. With the rate set once per epoch, one
that shrinks to an epoch or less is gone: 5 of 200 epochs are a quarter of an epoch of 10.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from anchored._checks import check_real
from anchored._errors import InputError
from anchored.schedules._base import Schedule, check_epochs, scaled

__all__ = ["WarmUp"]


@dataclass(frozen=True, kw_only=True)
class WarmUp(Schedule):
    """Linear warm-up in front of ``schedule``.

    Args:
        schedule: What follows.
        warm_epochs: Length of the rise, positive and at most the length of ``schedule``.
        start: Factor at epoch 0, in ``[0, 1]``; None for ``1 / warm_epochs``, see the head of this file.

    Example:
        >>> from anchored.schedules import Constant
        >>> rise = WarmUp(schedule=Constant(epochs=200), warm_epochs=5)
        >>> [rise(epoch) for epoch in range(6)]
        [0.2, 0.4, 0.6, 0.8, 1.0, 1.0]
        >>> third = WarmUp(schedule=Constant(epochs=200), warm_epochs=5, start=1 / 3)
        >>> [round(third(epoch), 2) for epoch in range(6)]
        [0.33, 0.47, 0.6, 0.73, 0.87, 1.0]
    """

    name: ClassVar[str] = "warm-up"
    schedule: Schedule
    warm_epochs: float = 5
    start: float | None = None

    def __post_init__(self) -> None:
        _check_schedule(self.schedule)
        check_real("warm_epochs", self.warm_epochs, low=0, high=self.schedule.epochs, closed="right")
        if self.start is not None:
            check_real("start", self.start, low=0, high=1, way_out="None starts at 1 / warm_epochs")

    @property
    def epochs(self) -> int:  # type: ignore[override]  # derived here, a field elsewhere; both are read only
        """Length of the run: that of the schedule that follows."""
        return self.schedule.epochs

    def factor(self, epoch: float) -> float:
        """See the head of this file."""
        if self.start is None:
            rise = (epoch + 1) / self.warm_epochs
        else:
            rise = self.start + (1 - self.start) * epoch / self.warm_epochs
        return min(1.0, rise) * self.schedule.factor(epoch)

    def for_epochs(self, epochs: int) -> Self:
        """Both parts over ``epochs``."""
        check_epochs(epochs)
        shorter = scaled(self.warm_epochs, self.epochs, epochs)
        return replace(self, schedule=self.schedule.for_epochs(epochs), warm_epochs=shorter)


def _check_schedule(schedule: object) -> None:
    if isinstance(schedule, Mapping | str):
        raise InputError(f"schedule must be a Schedule, got {schedule!r}; schedules.get builds nested ones from JSON")
    if not isinstance(schedule, Schedule):
        raise InputError(f"schedule must be a Schedule, got {schedule!r}; for none use Constant()")

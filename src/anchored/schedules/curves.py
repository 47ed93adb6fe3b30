r"""The shapes of schedules: each is the factor of the base rate as a function :math:`f(t)` of the epoch :math:`t`.

:class:`Deferred` is the one that is not a rate: it says from which epoch on class weights are used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar, Self

from anchored._checks import check_real
from anchored._errors import InputError
from anchored.schedules._base import Schedule, check_epoch, check_epochs, scaled

__all__ = ["Constant", "Cosine", "Deferred", "Exponential", "MultiStep", "Parabolic", "WarmUp"]


@dataclass(frozen=True, kw_only=True)
class Constant(Schedule):
    r"""Use the base rate throughout: :math:`f(t) = 1`.

    Args:
        epochs: Length of the run; it does not change the values.

    Example:
        >>> Constant()(17)
        1.0
    """

    name: ClassVar[str] = "constant"
    epochs: int = 1

    def factor(self, epoch: float) -> float:
        """Return 1."""
        return 1.0


@dataclass(frozen=True, kw_only=True)
class Cosine(Schedule):
    r"""Cosine annealing: half a cosine wave from the base rate down to a lowest one.

    .. math::  f(t) = m + (1 - m)\,\frac{1 + \cos(\pi t / T)}{2}, \qquad 0 \le t \le T,

    with :math:`T` epochs and the lowest factor :math:`m`; after :math:`T` it stays at :math:`m`. A run of
    :math:`T` epochs asks at :math:`t = 0 \dots T - 1`, so it never quite reaches :math:`m`.

    Args:
        epochs: Epochs from the highest to the lowest rate (torch's ``T_max``).
        lowest: Factor at the end, in ``[0, 1]``: torch's ``eta_min`` divided by the base rate.

    Example:
        >>> [round(Cosine(epochs=4)(epoch), 3) for epoch in range(5)]
        [1.0, 0.854, 0.5, 0.146, 0.0]

    References:
        Loshchilov and Hutter, 2017. SGDR: Stochastic Gradient Descent with Warm Restarts. ICLR (one period of it).
    """

    name: ClassVar[str] = "cosine"
    epochs: int
    lowest: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        way_out = "it is a share of the base rate: divide eta_min by the rate"
        check_real("lowest", self.lowest, low=0, high=1, way_out=way_out)

    def factor(self, epoch: float) -> float:
        """Return the height of the wave at ``epoch``."""
        if epoch >= self.epochs:
            return self.lowest
        return self.lowest + (1 - self.lowest) * (1 + math.cos(math.pi * epoch / self.epochs)) / 2


@dataclass(frozen=True, kw_only=True)
class Exponential(Schedule):
    r"""Exponential decay, the same factor every epoch: :math:`f(t) = \gamma^t`.

    Over another number of epochs :math:`T'` the factor becomes :math:`\gamma' = \gamma^{T/T'}`, so that the run ends
    at the same rate: :math:`\gamma'^{\,T'} = \gamma^T`.

    Args:
        epochs: Length of the run that ``gamma`` is meant for.
        gamma: Factor per epoch, in ``(0, 1]``.

    Example:
        >>> decay = Exponential(epochs=250, gamma=0.97)
        >>> round(decay(2), 4), round(decay.for_epochs(125)(1), 4)      # twice as fast in half the time
        (0.9409, 0.9409)
    """

    name: ClassVar[str] = "exponential"
    epochs: int
    gamma: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_real("gamma", self.gamma, low=0, high=1, closed="right", way_out="the paper's value is 0.97")

    def factor(self, epoch: float) -> float:
        """Return ``gamma`` to the power of ``epoch``."""
        return float(self.gamma**epoch)

    def for_epochs(self, epochs: int) -> Self:
        """Return the decay that reaches the same final rate after ``epochs`` epochs."""
        check_epochs(epochs)
        return replace(self, epochs=epochs, gamma=self.gamma ** (self.epochs / epochs))


@dataclass(frozen=True, kw_only=True)
class MultiStep(Schedule):
    r"""A staircase: from milestone :math:`m_i` on, the rate is :math:`c_i` times the base rate.

    .. math::  f(t) = c_i \quad\text{for } m_i \le t < m_{i+1}, \qquad f(t) = 1 \quad\text{for } t < m_1.

    The factors refer to the base rate, not to the step before: LDAM's rate drops to 0.01 and then 0.0001, MiSLAS's to
    0.1 and then 0.01. If one factor is applied again and again, :meth:`repeated` writes the powers.

    Over another number of epochs the milestones keep their relative positions. They need not be whole numbers: a
    milestone at 5.6 takes effect at the next whole epoch, the sixth counted from 0.

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
        super().__post_init__()
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
        """Multiply the rate by ``gamma`` at each milestone, as torch's ``MultiStepLR`` does.

        Args:
            epochs: Length of the run that the milestones are meant for.
            milestones: Epochs at which the rate changes, rising, each in ``(0, epochs)``.
            gamma: Factor that is applied once more at each milestone.

        Example:
            >>> MultiStep.repeated(epochs=30, milestones=(10, 20), gamma=0.5).factors
            (0.5, 0.25)
        """
        return cls(epochs=epochs, milestones=milestones, factors=[gamma ** (i + 1) for i in range(len(milestones))])

    def factor(self, epoch: float) -> float:
        """Return the factor of the last milestone reached, 1 before the first."""
        reached = [
            factor for milestone, factor in zip(self.milestones, self.factors, strict=True) if epoch >= milestone
        ]
        return reached[-1] if reached else 1.0

    def for_epochs(self, epochs: int) -> Self:
        """Return the same steps at the same relative positions of ``epochs`` epochs."""
        check_epochs(epochs)
        return replace(self, epochs=epochs, milestones=[scaled(m, self.epochs, epochs) for m in self.milestones])


@dataclass(frozen=True, kw_only=True)
class Parabolic(Schedule):
    r"""The falling half of a parabola, slow at first: :math:`f(t) = 1 - (t/T)^2`, and 0 after :math:`T` epochs.

    It is the weight of BBN's conventional branch, not a learning rate. With epochs counted from 1 it is published as
    :math:`1 - ((T_e - 1)/T_{\max})^2`.

    Args:
        epochs: Epoch at which it reaches 0.

    Example:
        >>> Parabolic(epochs=200)(100)
        0.75

    References:
        Zhou et al., 2020. BBN: Bilateral-Branch Network with Cumulative Learning for Long-Tailed Visual Recognition.
        CVPR.
    """

    name: ClassVar[str] = "parabolic"
    epochs: int

    def factor(self, epoch: float) -> float:
        """Return the height of the parabola at ``epoch``."""
        return max(0.0, 1 - (epoch / self.epochs) ** 2)


@dataclass(frozen=True, kw_only=True)
class WarmUp(Schedule):
    r"""A linear rise in front of another schedule :math:`g`; the two are multiplied, :math:`g` is not shifted.

    With :math:`w` warm-up epochs there are two customs:

    .. math::  f(t) = g(t)\,\min\!\Big(1, \frac{t + 1}{w}\Big)
               \qquad\text{or}\qquad
               f(t) = g(t)\,\min\!\Big(1, s + (1 - s)\frac{t}{w}\Big).

    The first (``start=None``) is that of LDAM, MiSLAS and TADE: a fifth, two fifths … of the rate for :math:`w = 5`,
    the full rate in the fifth epoch. The second is that of BBN and LADE with :math:`s = 1/3`: it ends in the sixth.

    Over another number of epochs the warm-up keeps its share of the run. The rate is set once per epoch, so a warm-up
    that shrinks to one epoch or less disappears: 5 of 200 epochs are a quarter of an epoch of 10.

    Args:
        schedule: The schedule that follows.
        warm_epochs: Length of the rise, positive and at most the length of ``schedule``.
        start: Factor :math:`s` at epoch 0, in ``[0, 1]``; None selects the first custom, ``1 / warm_epochs``.

    Example:
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
        """Return the rise times the factor of the schedule that follows."""
        if self.start is None:
            rise = (epoch + 1) / self.warm_epochs
        else:
            rise = self.start + (1 - self.start) * epoch / self.warm_epochs
        return min(1.0, rise) * self.schedule.factor(epoch)

    def for_epochs(self, epochs: int) -> Self:
        """Return both parts over ``epochs`` epochs."""
        check_epochs(epochs)
        shorter = scaled(self.warm_epochs, self.epochs, epochs)
        return replace(self, schedule=self.schedule.for_epochs(epochs), warm_epochs=shorter)


@dataclass(frozen=True, kw_only=True)
class Deferred:
    r"""Deferred re-weighting: class weights are all 1 before an epoch, and the balanced ones from there on.

    .. math::  w_j(t) = 1 \ \text{ for } t < t_0, \qquad
               w_j(t) \propto \frac{1 - \beta}{1 - \beta^{n_j}} \ \text{ for } t \ge t_0.

    The published start is :math:`t_0 = 160` of 200 epochs, the first drop of the rate. Over another number of epochs
    the start keeps its relative position, as the milestones of :class:`MultiStep` do, so the two still coincide.

    Args:
        epochs: Length of the run.
        start: The first epoch with weights, in ``[0, epochs]``; 0 means from the beginning.

    Example:
        >>> drw = Deferred()
        >>> drw(159), drw(160)
        (False, True)
        >>> drw.for_epochs(10).start
        8.0

    References:
        Cao et al., 2019. Learning Imbalanced Datasets with Label-Distribution-Aware Margin Loss. NeurIPS.
    """

    epochs: int = 200
    start: float = 160

    def __post_init__(self) -> None:
        check_epochs(self.epochs)
        check_real("start", self.start, low=0, high=self.epochs, way_out="use for_epochs to fit another length")

    def __call__(self, epoch: float) -> bool:
        """Return whether the weights are used at ``epoch``, counted from 0."""
        return check_epoch(epoch) >= self.start

    def for_epochs(self, epochs: int) -> Deferred:
        """Return the same start, relative to ``epochs`` epochs."""
        check_epochs(epochs)
        return replace(self, epochs=epochs, start=scaled(self.start, self.epochs, epochs))

    def as_dict(self) -> dict[str, object]:
        """Return plain values; ``Deferred(**d)`` turns them back.

        Example:
            >>> Deferred().as_dict()
            {'epochs': 200, 'start': 160}
        """
        return {"epochs": self.epochs, "start": self.start}


def _numbers(field: str, values: object) -> tuple[float, ...]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InputError(f"{field} must be a list of numbers, got {values!r}; write [160, 180]")
    return tuple(check_real(f"every entry of {field}", value) for value in values)


def _check_schedule(schedule: object) -> None:
    if not isinstance(schedule, Schedule):
        nested = isinstance(schedule, Mapping | str)
        way_out = "schedules.get builds nested ones from JSON" if nested else "for none use Constant()"
        raise InputError(f"schedule must be a Schedule, got {schedule!r}; {way_out}")

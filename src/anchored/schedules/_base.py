"""The base of all schedules: a frozen description that maps an epoch to a factor of the base rate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields, replace
from typing import ClassVar, Self

from anchored._checks import check_integer, check_real

__all__ = ["Schedule", "check_epoch", "check_epochs", "scaled"]


class Schedule(ABC):
    """A factor of the base rate that depends on the epoch alone: ``rate = base * schedule(epoch)``.

    A subclass is a frozen dataclass with a field ``epochs``, the length of the run it is written for. It implements
    :meth:`factor`, and replaces :meth:`for_epochs` if more than ``epochs`` changes with the length.

    Example:
        >>> from anchored import schedules
        >>> half_way = schedules.Cosine(epochs=50)(25)
        >>> round(0.1 * half_way, 6)                    # base rate 0.1
        0.05
    """

    name: ClassVar[str]
    epochs: int

    def __post_init__(self) -> None:
        check_epochs(self.epochs)

    @abstractmethod
    def factor(self, epoch: float) -> float:
        """Return the factor at ``epoch >= 0``."""

    def for_epochs(self, epochs: int) -> Self:
        """Return the same shape over ``epochs`` epochs: every change keeps its relative position in the run."""
        return replace(self, epochs=epochs)  # type: ignore[type-var]  # every subclass is a dataclass

    def __call__(self, epoch: float) -> float:
        """Return the factor at ``epoch``, counted from 0: ``schedule(0)`` is for the first epoch."""
        return self.factor(check_epoch(epoch))

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON or YAML; ``schedules.get(**d)`` turns them back into a schedule.

        Example:
            >>> from anchored import schedules
            >>> schedules.Cosine(epochs=50).as_dict()
            {'name': 'cosine', 'epochs': 50, 'lowest': 0.0}
        """
        entries: dict[str, object] = {"name": self.name}
        for field in fields(self):  # type: ignore[arg-type]  # every subclass is a dataclass
            value = getattr(self, field.name)
            if isinstance(value, Schedule):
                value = value.as_dict()
            entries[field.name] = list(value) if isinstance(value, tuple) else value
        return entries


def check_epoch(epoch: float) -> float:
    """Return ``epoch`` as a finite float that is not negative.

    Example:
        >>> check_epoch(3)
        3.0
    """
    return check_real("epoch", epoch, low=0, way_out="epochs are counted from 0")


def check_epochs(epochs: int) -> int:
    """Return ``epochs`` as a whole number, 1 or more.

    Example:
        >>> check_epochs(200)
        200
    """
    return check_integer("epochs", epochs, low=1)


def scaled(position: float, old: int, new: int) -> float:
    """Move a position in a run of ``old`` epochs to the same relative position in a run of ``new`` epochs.

    Args:
        position: Epoch in the old run; it need not be a whole number.
        old: Number of epochs of the old run.
        new: Number of epochs of the new run.

    Example:
        >>> scaled(160, 200, 30)
        24.0
    """
    # Rounded far below anything that matters, so that there and back again is exact: 160 of 200
    # is 5.6 of 7, and 5.6 * 200 / 7 must not come out a hair above 160, an epoch late.
    return round(position * new / old, 9)

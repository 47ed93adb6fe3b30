"""What every schedule is: a frozen description that maps an epoch to a factor of the base rate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import ClassVar, Self

from anchored._checks import check_integer, check_real

__all__ = ["Schedule", "check_epoch", "check_epochs", "scaled"]


class Schedule(ABC):
    """A factor of the base rate as a function of the epoch alone.

    A subclass is a frozen dataclass with the field ``epochs`` (the length it is written for) that
    writes :meth:`factor` and :meth:`for_epochs`.

    Example:
        >>> from anchored import schedules
        >>> half_way = schedules.Cosine(epochs=50)(25)
        >>> round(0.1 * half_way, 6)                    # base rate 0.1
        0.05
    """

    name: ClassVar[str]
    epochs: int

    @abstractmethod
    def factor(self, epoch: float) -> float:
        """The factor at ``epoch >= 0``."""

    @abstractmethod
    def for_epochs(self, epochs: int) -> Self:
        """The same shape over another number of epochs: what happened at a share of the run happens at that share."""

    def __call__(self, epoch: float) -> float:
        """The factor at ``epoch``, counted from 0: ``schedule(0)`` is for the first epoch."""
        return self.factor(check_epoch(epoch))

    def as_dict(self) -> dict[str, object]:
        """Plain values for JSON or YAML; ``schedules.get(**d)`` turns them back.

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
    """``epoch`` as a finite float that is not negative.

    Example:
        >>> check_epoch(3)
        3.0
    """
    return check_real("epoch", epoch, low=0, way_out="epochs are counted from 0")


def check_epochs(epochs: int) -> int:
    """``epochs`` as a whole number, 1 or more.

    Example:
        >>> check_epochs(200)
        200
    """
    return check_integer("epochs", epochs, low=1)


def scaled(position: float, old: int, new: int) -> float:
    """The position among ``new`` epochs that lies at the same share as ``position`` among ``old``.

    Example:
        >>> scaled(160, 200, 30)
        24.0
    """
    # Rounded far below anything that matters, so that there and back again is exact: 160 of 200
    # is 5.6 of 7, and 5.6 * 200 / 7 must not come out a hair above 160, an epoch late.
    return round(position * new / old, 9)

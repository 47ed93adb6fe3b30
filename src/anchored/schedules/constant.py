r"""A rate that does not change: :math:`f(t) = 1`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from anchored.schedules._base import Schedule, check_epochs

__all__ = ["Constant"]


@dataclass(frozen=True, kw_only=True)
class Constant(Schedule):
    """The base rate throughout.

    Args:
        epochs: Length of the run; it does not matter here.

    Example:
        >>> Constant()(17)
        1.0
    """

    name: ClassVar[str] = "constant"
    epochs: int = 1

    def __post_init__(self) -> None:
        check_epochs(self.epochs)

    def factor(self, epoch: float) -> float:
        """Always 1."""
        return 1.0

    def for_epochs(self, epochs: int) -> Self:
        """The same, with another length."""
        return replace(self, epochs=epochs)

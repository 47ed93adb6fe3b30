r"""A fixed factor per epoch: :math:`f(t) = \gamma^t`.

Over another number of epochs the factor changes so that the end stays:
:math:`\gamma' = \gamma^{T/T'}`, since :math:`\gamma'^{\,T'} = \gamma^T`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from anchored._checks import check_real
from anchored.schedules._base import Schedule, check_epochs

__all__ = ["Exponential"]


@dataclass(frozen=True, kw_only=True)
class Exponential(Schedule):
    """Exponential decay.

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
        check_epochs(self.epochs)
        check_real("gamma", self.gamma, low=0, high=1, closed="right", way_out="the paper's value is 0.97")

    def factor(self, epoch: float) -> float:
        """See the head of this file."""
        return float(self.gamma**epoch)

    def for_epochs(self, epochs: int) -> Self:
        """The same fall over ``epochs``."""
        check_epochs(epochs)
        return replace(self, epochs=epochs, gamma=self.gamma ** (self.epochs / epochs))

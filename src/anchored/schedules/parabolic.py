r"""The falling half of a parabola: :math:`f(t) = 1 - (t/T)^2`, and 0 after :math:`T`.

It is not a learning rate but the weight of BBN's conventional branch, a function of the epoch all
the same: with epochs counted from 1 it is published as :math:`1 - ((T_e - 1)/T_{\max})^2`.

References:
    Zhou et al., 2020. BBN: Bilateral-Branch Network with Cumulative Learning for Long-Tailed Visual Recognition. CVPR.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from anchored.schedules._base import Schedule, check_epochs

__all__ = ["Parabolic"]


@dataclass(frozen=True, kw_only=True)
class Parabolic(Schedule):
    """Slow at first, fast at the end.

    Args:
        epochs: Where it reaches 0.

    Example:
        >>> Parabolic(epochs=200)(100)
        0.75
    """

    name: ClassVar[str] = "parabolic"
    epochs: int

    def __post_init__(self) -> None:
        check_epochs(self.epochs)

    def factor(self, epoch: float) -> float:
        """See the head of this file."""
        return max(0.0, 1 - (epoch / self.epochs) ** 2)

    def for_epochs(self, epochs: int) -> Self:
        """The same curve over ``epochs``."""
        return replace(self, epochs=epochs)

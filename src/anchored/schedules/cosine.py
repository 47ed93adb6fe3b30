r"""Half a cosine wave from the base rate down to a lowest one.

.. math::  f(t) = m + (1 - m)\,\frac{1 + \cos(\pi t / T)}{2}, \qquad 0 \le t \le T,

with :math:`T` epochs and the lowest factor :math:`m`; after :math:`T` it stays at :math:`m`. A run of
:math:`T` epochs asks at :math:`t = 0 \dots T - 1`, so it never quite arrives.

References:
    Loshchilov and Hutter, 2017. SGDR: Stochastic Gradient Descent with Warm Restarts. ICLR (one period of it).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from anchored._checks import check_real
from anchored.schedules._base import Schedule, check_epochs

__all__ = ["Cosine"]


@dataclass(frozen=True, kw_only=True)
class Cosine(Schedule):
    """Cosine annealing.

    Args:
        epochs: Epochs from top to bottom (torch's ``T_max``).
        lowest: Factor at the end, in ``[0, 1]``: torch's ``eta_min`` divided by the base rate.

    Example:
        >>> [round(Cosine(epochs=4)(epoch), 3) for epoch in range(5)]
        [1.0, 0.854, 0.5, 0.146, 0.0]
    """

    name: ClassVar[str] = "cosine"
    epochs: int
    lowest: float = 0.0

    def __post_init__(self) -> None:
        check_epochs(self.epochs)
        way_out = "it is a share of the base rate: divide eta_min by the rate"
        check_real("lowest", self.lowest, low=0, high=1, way_out=way_out)

    def factor(self, epoch: float) -> float:
        """See the head of this file."""
        if epoch >= self.epochs:
            return self.lowest
        return self.lowest + (1 - self.lowest) * (1 + math.cos(math.pi * epoch / self.epochs)) / 2

    def for_epochs(self, epochs: int) -> Self:
        """The same wave over ``epochs``."""
        return replace(self, epochs=epochs)

r"""Focal loss: cross entropy with less weight on samples that are already right.

.. math::  \ell_\gamma(\mathbf p, y) = -(1 - p_y)^\gamma \log p_y, \qquad \gamma \ge 0.

At :math:`\gamma = 0` it is cross entropy. It never exceeds cross entropy and, like it, is unbounded.

The code published with the normalised focal loss treats :math:`(1 - p_y)^\gamma` as a constant when it
differentiates, in the loss and in its normaliser. That is the gradient of another function;
``detach=True`` gives it.

References:
    Lin, Goyal, Girshick, He and Dollár, 2017. Focal Loss for Dense Object Detection. ICCV.
"""

from __future__ import annotations

from typing import Unpack

import torch
from torch import Tensor

from anchored._checks import check_real
from anchored.losses._base import Options
from anchored.losses._probability import OwnProbability

__all__ = ["Focal"]


class Focal(OwnProbability):
    r"""Focal loss with exponent ``gamma``: :math:`\ell_\gamma(\mathbf p, y) = -(1 - p_y)^\gamma \log p_y`.

    Args:
        gamma: How fast the weight of a sample falls as it is learned, at least 0; 0.5 in the noisy-label literature, 1
            or 2 elsewhere.
        detach: Hold the factor ``(1 - p)**gamma`` constant in the gradient, as the reference code for
            noisy labels does. Values are the same.
        options: ``weight``, ``reduction`` and ``ignore_index``, as for :class:`~anchored.losses.Loss`.

    Shape:
        logits ``(n, k)``; target ``(n,)`` int64 or ``(n, k)`` probabilities; out ``()``.

    Example:
        >>> import torch
        >>> Focal(gamma=2.0)(torch.zeros(1, 2), torch.tensor([0]))      # log 2, a quarter of it
        tensor(0.1733)
    """

    def __init__(self, gamma: float = 0.5, *, detach: bool = False, **options: Unpack[Options]) -> None:
        super().__init__(**options)
        self.gamma = check_real("gamma", gamma, low=0, closed="left", way_out="for gamma = 0 it is CrossEntropy")
        self.detach = detach

    def value(self, log_p: Tensor) -> Tensor:
        """Return ``-(1 - p)^gamma log p``."""
        # Where p rounds to 1, the power has an infinite slope for gamma < 1, and 0 * inf is a NaN
        # gradient: stay off zero by the least that can be represented.
        below_zero = log_p.clamp(max=-torch.finfo(log_p.dtype).tiny)
        # 1 - p as -expm1(log p): for p near 1 the plain difference has no correct digits left.
        factor = (-torch.expm1(below_zero)) ** self.gamma
        return -(factor.detach() if self.detach else factor) * log_p

    def value_and_slope(self, log_p: Tensor) -> tuple[Tensor, Tensor]:
        """Return the value and its slope, ``-(1 - p)^gamma (1 + gamma p u / (p - 1))`` with ``u = log p``.

        If detached, the slope is without the bracket.
        """
        below_zero = log_p.clamp(max=-torch.finfo(log_p.dtype).tiny)  # as above; and 0 / 0 below
        minus_rest = torch.expm1(below_zero)
        factor = -((-minus_rest) ** self.gamma)
        if self.detach:
            factor = factor.detach()
            return factor * log_p, factor
        # u / (p - 1) tends to 1 as p tends to 1; written as this quotient nothing there is lost.
        bend = (below_zero / minus_rest) * (minus_rest + 1)
        return factor * log_p, torch.addcmul(factor, factor, bend, value=self.gamma)

    def extra_repr(self) -> str:
        """Return the exponent, and the options that differ from the defaults."""
        mine = f"gamma={self.gamma}" + (", detach=True" if self.detach else "")
        return ", ".join(filter(None, [mine, super().extra_repr()]))

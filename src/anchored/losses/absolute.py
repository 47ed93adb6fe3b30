r"""Absolute error and reverse cross entropy: the same loss up to a factor, symmetric and bounded.

.. math::  \ell_{\text{MAE}}(\mathbf p, y) = s\,(1 - p_y), \qquad \ell_{\text{RCE}}(\mathbf p, y) = -A\,(1 - p_y),
           \quad A = \log 10^{-4}.

The L1 distance between p and the one-hot label is :math:`2 - 2 p_y`; the reference code of the
active-passive losses uses half of it, :math:`s = 1`. Reverse cross entropy exchanges p and the label in cross
entropy and has to say what log 0 is: A. Both sum to a constant over the labels,
:math:`s (k - 1)` and :math:`-A (k - 1)`.

References:
    Ghosh, Kumar and Sastry, 2017. Robust Loss Functions under Label Noise for Deep Neural Networks. AAAI.
    Wang, Ma, Chen, Luo, Yi and Bailey, 2019. Symmetric Cross Entropy for Robust Learning with Noisy Labels. ICCV.
"""

from __future__ import annotations

import math
from typing import Unpack

import torch
from torch import Tensor

from anchored._checks import check_real
from anchored.losses._base import Options
from anchored.losses._probability import OwnProbability, expm1

__all__ = ["MeanAbsoluteError", "ReverseCrossEntropy"]


class MeanAbsoluteError(OwnProbability):
    r"""Absolute error between the probabilities and the label: :math:`\ell(\mathbf p, y) = s\,(1 - p_y)`.

    Args:
        scale: The factor s: 1 as in the references' sums, 2 for the whole L1 distance.
        options: ``weight``, ``reduction`` and ``ignore_index``, as for :class:`~anchored.losses.Loss`.

    Shape:
        logits ``(n, k)``; target ``(n,)`` int64 or ``(n, k)`` probabilities; out ``()``.

    Example:
        >>> import torch
        >>> MeanAbsoluteError(scale=2.0)(torch.zeros(1, 4), torch.tensor([2]))
        tensor(1.5000)
    """

    _shown = "scale={self.scale:g}"

    symmetric = True
    bounded = True

    def __init__(self, scale: float = 1.0, **options: Unpack[Options]) -> None:
        super().__init__(**options)
        self.scale = check_real("scale", scale, low=0, closed="neither")

    def value(self, log_p: Tensor) -> Tensor:
        """Return the distance from certainty, ``s (1 - p)``."""
        return -self.scale * expm1(log_p)  # 1 - p loses its digits for p near 1, expm1 does not

    def value_and_slope(self, log_p: Tensor) -> tuple[Tensor, Tensor]:
        """Return the value and its slope ``-s p``."""
        return -self.scale * torch.expm1(log_p), -self.scale * log_p.exp()

    def total(self, log_p: Tensor) -> Tensor:
        """Return the sum ``(n,)`` of each row, ``s (k - 1)`` for all probabilities."""
        return _constant(log_p, self.scale)


class ReverseCrossEntropy(OwnProbability):
    r"""Cross entropy with prediction and label exchanged: :math:`\ell(\mathbf p, y) = -A\,(1 - p_y)`.

    Args:
        floor: The number that replaces 0 under the logarithm, in ``(0, 1)``; ``A = log(floor)``.
        options: ``weight``, ``reduction`` and ``ignore_index``, as for :class:`~anchored.losses.Loss`.

    Shape:
        logits ``(n, k)``; target ``(n,)`` int64 or ``(n, k)`` probabilities; out ``()``.

    Example:
        >>> import torch
        >>> ReverseCrossEntropy()(torch.zeros(1, 4), torch.tensor([2]))      # 9.2103 (1 - 1/4)
        tensor(6.9078)
    """

    _shown = "floor={self.floor:g}"

    symmetric = True
    bounded = True

    def __init__(self, floor: float = 1e-4, **options: Unpack[Options]) -> None:
        super().__init__(**options)
        self.floor = check_real("floor", floor, low=0, high=1, closed="neither")

    @property
    def log_zero(self) -> float:
        """The constant A that replaces log 0."""
        return math.log(self.floor)

    def value(self, log_p: Tensor) -> Tensor:
        """Return ``-A (1 - p)``."""
        return self.log_zero * expm1(log_p)

    def value_and_slope(self, log_p: Tensor) -> tuple[Tensor, Tensor]:
        """Return the value and its slope ``A p``."""
        return self.log_zero * torch.expm1(log_p), self.log_zero * log_p.exp()

    def total(self, log_p: Tensor) -> Tensor:
        """Return the sum ``(n,)`` of each row, ``-A (k - 1)`` for all probabilities."""
        return _constant(log_p, -self.log_zero)


def _constant(log_p: Tensor, scale: float) -> Tensor:
    return torch.full_like(log_p[:, 0], scale * (log_p.shape[1] - 1))

r"""Symmetric cross entropy: cross entropy to learn, reverse cross entropy to resist wrong labels.

.. math::  \ell(\mathbf p, y) = -\alpha \log p_y - \beta A\,(1 - p_y), \qquad A = \log 10^{-4}.

The name refers to the two directions of the cross entropy. In the sense of label noise (a constant sum over labels) it
is symmetric, and bounded, only at :math:`\alpha = 0`.

References:
    Wang, Ma, Chen, Luo, Yi and Bailey, 2019. Symmetric Cross Entropy for Robust Learning with Noisy Labels. ICCV.
"""

from __future__ import annotations

import math
from typing import Unpack

from torch import Tensor

from anchored._checks import check_real
from anchored._errors import InputError
from anchored.losses._base import Options
from anchored.losses._probability import OwnProbability, expm1

__all__ = ["SymmetricCrossEntropy"]


class SymmetricCrossEntropy(OwnProbability):
    r"""Cross entropy plus reverse cross entropy: :math:`-\alpha \log p_y - \beta A\,(1 - p_y)` with ``A = log(floor)``.

    Args:
        alpha: Factor of cross entropy, at least 0.
        beta: Factor of reverse cross entropy, at least 0.
        floor: The number that replaces 0 under the logarithm, as for :class:`~anchored.losses.ReverseCrossEntropy`.
        options: ``weight``, ``reduction`` and ``ignore_index``, as for :class:`~anchored.losses.Loss`.

    Shape:
        logits ``(n, k)``; target ``(n,)`` int64 or ``(n, k)`` probabilities; out ``()``.

    Example:
        >>> import torch
        >>> SymmetricCrossEntropy(alpha=1.0, beta=0.0)(torch.zeros(1, 4), torch.tensor([2]))
        tensor(1.3863)
    """

    _shown = "alpha={self.alpha:g}, beta={self.beta:g}"

    def __init__(
        self, alpha: float = 0.1, beta: float = 1.0, *, floor: float = 1e-4, **options: Unpack[Options]
    ) -> None:
        super().__init__(**options)
        self.alpha = check_real("alpha", alpha, low=0, closed="left")
        self.beta = check_real("beta", beta, low=0, closed="left")
        self.floor = check_real("floor", floor, low=0, high=1, closed="neither")
        if self.alpha == self.beta == 0:
            raise InputError("alpha and beta must not both be 0; there would be nothing to learn from")
        self.symmetric = self.bounded = self.alpha == 0

    @property
    def log_zero(self) -> float:
        """The constant A that replaces log 0."""
        return math.log(self.floor)

    def value(self, log_p: Tensor) -> Tensor:
        """Return ``-alpha log p - beta A (1 - p)``."""
        return self.beta * self.log_zero * expm1(log_p) - self.alpha * log_p

    def value_and_slope(self, log_p: Tensor) -> tuple[Tensor, Tensor]:
        """Return the value and its slope ``-alpha + beta A p``."""
        return self.value(log_p), self.beta * self.log_zero * log_p.exp() - self.alpha

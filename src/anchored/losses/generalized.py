r"""Generalised cross entropy: one exponent between cross entropy and absolute error.

.. math::  \ell_q(\mathbf p, y) = \frac{1 - p_y^{\,q}}{q}, \qquad 0 < q \le 1.

As :math:`q \to 0` it tends to :math:`-\log p_y`; at :math:`q = 1` it is :math:`1 - p_y`. The sum of its
row is not constant, but stays inside

.. math::  \frac{k - k^{1-q}}{q} \;\le\; \sum_{j=1}^{k} \ell_q(\mathbf p, j) \;\le\; \frac{k-1}{q},

so it is symmetric only at :math:`q = 1`, and nearly so close to it.

References:
    Zhang and Sabuncu, 2018. Generalized Cross Entropy Loss for Training Deep Neural
    Networks with Noisy Labels. NeurIPS.
"""

from __future__ import annotations

from typing import Unpack

import torch
from torch import Tensor

from anchored._checks import check_real
from anchored.losses._base import Options
from anchored.losses._probability import OwnProbability, expm1

__all__ = ["GeneralizedCrossEntropy"]


class GeneralizedCrossEntropy(OwnProbability):
    r"""Generalised cross entropy with exponent ``q``: :math:`\ell_q(\mathbf p, y) = (1 - p_y^{\,q}) / q`.

    Args:
        q: Position between cross entropy (0) and absolute error (1), in ``(0, 1]``. Small values fit the labels
            closely, large ones resist noise.
        options: ``weight``, ``reduction`` and ``ignore_index``, as for :class:`~anchored.losses.Loss`.

    Shape:
        logits ``(n, k)``; target ``(n,)`` int64 or ``(n, k)`` probabilities; out ``()``.

    Example:
        >>> import torch
        >>> GeneralizedCrossEntropy(q=1.0)(torch.zeros(1, 4), torch.tensor([2]))      # p = 1/4, so 1 - p
        tensor(0.7500)
    """

    _shown = "q={self.q}"

    bounded = True

    def __init__(self, q: float = 0.7, **options: Unpack[Options]) -> None:
        super().__init__(**options)
        self.q = check_real("q", q, low=0, high=1, closed="right", way_out="for q = 0 use CrossEntropy")
        self.symmetric = self.q == 1.0

    def value(self, log_p: Tensor) -> Tensor:
        """Return ``(1 - p^q) / q``."""
        # As -expm1(q log p) / q it is exact for small q and for p near 1, and there is nothing to clamp:
        # the usual clamp of p at 1e-7 would stop the gradient of the samples that are most wrong.
        return -expm1(self.q * log_p) / self.q

    def value_and_slope(self, log_p: Tensor) -> tuple[Tensor, Tensor]:
        """Return ``(1 - p^q) / q`` and its slope ``-p^q``."""
        log_power = self.q * log_p
        return torch.expm1(log_power) / -self.q, -torch.exp(log_power)

r"""LADE: balanced softmax, plus a regulariser that brings the logits themselves to log-density ratios.

.. math::  \ell(\mathbf f_i, y_i) = -\log \operatorname{softmax}(\mathbf f_i + \log \boldsymbol\pi)_{y_i} + \alpha R,
           \qquad R = -\sum_{c} \pi_c \left( T^{(1)}_c - T^{(2)}_c - \lambda\, (T^{(2)}_c)^2 \right),

.. math::  T^{(1)}_c = \operatorname*{mean}_{i:\, y_i = c} f_{ic}, \qquad
           T^{(2)}_c = \log \operatorname*{mean}_{i} \frac{e^{f_{ic}}}{k\,\pi_c}.

The regulariser (a Donsker-Varadhan bound per class) belongs to the batch, not to a sample. Every
sample carries it whole, so that the mean over the batch is the published sum of the two. A class without
samples in the batch has :math:`T^{(1)}_c = 0`. Ignored samples take no part.

References:
    Hong, Han, Choi, Seo, Kim and Chang, 2021. Disentangling Label Distribution for Long-Tailed
    Visual Recognition. CVPR.
"""

from __future__ import annotations

import math
from typing import Unpack

import torch
from torch import Tensor

from anchored._checks import check_real
from anchored.losses._base import LabelledLogits, Options
from anchored.losses._counts import Counts
from anchored.losses.prior import BalancedSoftmax

__all__ = ["LADE"]


class LADE(BalancedSoftmax):
    r"""Balanced softmax with the LADE regulariser of the batch.

    .. math::  \ell(\mathbf f, y) = -\log \operatorname{softmax}(\mathbf f + \log \boldsymbol\pi)_y + \alpha R,

    with :math:`R` as in :meth:`regulariser`.

    Args:
        counts: Training samples of each class, ``(k,)``.
        alpha: Factor of the regulariser.
        penalty: The lambda of the formula, which keeps its second term near zero.
        options: ``weight``, ``reduction`` and ``ignore_index``, as for :class:`~anchored.losses.Loss`. The weight does
            not change the regulariser. With ``reduction="none"`` every value holds the whole regulariser; ``"sum"`` is
            the sum of those.

    Shape:
        logits ``(n, k)``; target ``(n,)`` int64 or ``(n, k)`` probabilities; out ``()``. ``per_class`` is the
        row of the first term only, since the regulariser needs the labels of the batch.

    Example:
        >>> import torch
        >>> LADE([30, 10], alpha=0.0)(torch.zeros(1, 2), torch.tensor([0]))      # balanced softmax
        tensor(0.2877)
    """

    _shown = "alpha={self.alpha:g}, penalty={self.penalty:g}, tau={self.tau:g}"

    nonnegative = False
    shift_invariant = False

    def __init__(
        self, counts: Counts, *, alpha: float = 0.1, penalty: float = 0.01, **options: Unpack[Options]
    ) -> None:
        super().__init__(counts, **options)
        self.alpha = check_real("alpha", alpha, low=0, closed="left")
        self.penalty = check_real("penalty", penalty, low=0, closed="left")

    def regulariser(self, logits: Tensor, mass: Tensor, kept: Tensor) -> Tensor:
        r"""Return the regulariser :math:`R`, a scalar ``()`` of the whole batch.

        .. math::  R = -\sum_{c} \pi_c \left( T^{(1)}_c - T^{(2)}_c - \lambda\, (T^{(2)}_c)^2 \right), \quad
                   T^{(1)}_c = \operatorname*{mean}_{i:\, y_i = c} f_{ic}, \quad
                   T^{(2)}_c = \log \operatorname*{mean}_{i} \frac{e^{f_{ic}}}{k\,\pi_c}.

        Args:
            logits: Logits ``(n, k)``.
            mass: Weight of each label for each sample, ``(n, k)``: one-hot rows or probabilities.
            kept: Which samples count, ``(n,)`` bool.

        Returns:
            A scalar ``()``.

        Example:
            >>> logits, mass = torch.zeros(2, 2), torch.eye(2)
            >>> abs(LADE([10, 10]).regulariser(logits, mass, torch.tensor([True, True])).item()) < 1e-6
            True
        """
        log_prior = self.log_prior.to(logits.dtype)
        per_label = mass.sum(dim=0)
        first = (mass * logits).sum(dim=0) / torch.where(per_label > 0, per_label, 1.0)
        # The mean of exponentials as a log-sum-exp: exp(logit) itself overflows at 89 in float32.
        among_kept = logits.masked_fill(~kept[:, None], -math.inf).logsumexp(dim=0) - kept.sum().to(logits.dtype).log()
        second = among_kept - log_prior - math.log(logits.shape[1])
        return -(log_prior.exp() * (first - second - self.penalty * second.square())).sum()

    def _at(self, batch: LabelledLogits) -> Tensor:
        mass = torch.zeros_like(batch.logits).scatter(
            1, batch.labels[:, None], batch.kept[:, None].to(batch.logits.dtype)
        )
        return super()._at(batch) + self.alpha * self.regulariser(batch.logits, mass, batch.kept)

    def _over(self, logits: Tensor, mass: Tensor) -> Tensor:
        kept = torch.ones_like(logits[:, 0], dtype=torch.bool)
        shared = self.alpha * self.regulariser(logits, mass, kept)
        return super()._over(logits, mass) + shared * mass.sum(dim=1)

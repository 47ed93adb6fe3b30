r"""Cross entropy on logits corrected by the class prior: logit adjustment and balanced softmax.

.. math::  \ell(\mathbf f, y) = -\log \operatorname{softmax}(\mathbf f + \tau \log \boldsymbol\pi)_y,
           \qquad \pi_j = n_j / N .

The prior is added in training only; the network then learns to output scores for balanced
classes. Balanced softmax is :math:`\tau = 1` (adding log n instead of log pi shifts all logits alike).

References:
    Ren, Yu, Sheng, Ma, Zhao, Yi and Li, 2020. Balanced Meta-Softmax for Long-Tailed Visual Recognition. NeurIPS.
    Menon, Jayasumana, Rawat, Jain, Veit and Kumar, 2021. Long-Tail Learning via Logit Adjustment. ICLR.
"""

from __future__ import annotations

from typing import Unpack

import torch
import torch.nn.functional as F
from torch import Tensor

from anchored._checks import check_real
from anchored.losses._base import LabelledLogits, Loss, Options, in_single_precision
from anchored.losses._counts import Counts, check_counts, check_width

__all__ = ["BalancedSoftmax", "LogitAdjusted"]


class LogitAdjusted(Loss):
    r"""Cross entropy with ``tau`` times the log-prior added to the logits.

    .. math::  \ell(\mathbf f, y) = -\log \operatorname{softmax}(\mathbf f + \tau \log \boldsymbol\pi)_y,
               \qquad \pi_j = n_j / N .

    Args:
        counts: Training samples of each class, ``(k,)``.
        tau: Strength of the correction; 1 aims at balanced accuracy, 0 is cross entropy.
        options: ``weight``, ``reduction`` and ``ignore_index``, as for :class:`~anchored.losses.Loss`.

    Shape:
        logits ``(n, k)``; target ``(n,)`` int64 or ``(n, k)`` probabilities; out ``()``.

    Example:
        >>> import torch
        >>> LogitAdjusted([30, 10])(torch.zeros(1, 2), torch.tensor([1]))      # p = 10 / 40
        tensor(1.3863)
    """

    _shown = "tau={self.tau:g}"

    log_prior: Tensor

    def __init__(self, counts: Counts, *, tau: float = 1.0, **options: Unpack[Options]) -> None:
        super().__init__(**options)
        checked = check_counts(counts)
        self.tau = check_real("tau", tau, low=0, closed="left")
        log_prior = (checked / checked.sum()).log().to(torch.get_default_dtype())
        self.register_buffer("log_prior", log_prior, persistent=False)

    def adjusted(self, logits: Tensor) -> Tensor:
        """Return ``logits + tau * log_prior``, ``(n, k)``: the logits inside the softmax of training."""
        check_width(logits, self.log_prior, "counts")
        logits = in_single_precision(logits)
        return logits + self.tau * self.log_prior.to(logits.dtype)

    def per_class(self, logits: Tensor) -> Tensor:
        """Return values ``(n, k)``: minus the log-softmax of the adjusted logits."""
        return -F.log_softmax(self.adjusted(logits), dim=1)

    def _at(self, batch: LabelledLogits) -> Tensor:
        adjusted = self.adjusted(batch.logits)
        return F.cross_entropy(adjusted, batch.target, ignore_index=batch.ignore_index, reduction="none")


class BalancedSoftmax(LogitAdjusted):
    """Softmax over ``n_j * exp(logit_j)``, which is logit adjustment at ``tau = 1``.

    Args:
        counts: Training samples of each class, ``(k,)``.
        options: ``weight``, ``reduction`` and ``ignore_index``, as for :class:`~anchored.losses.Loss`.

    Shape:
        logits ``(n, k)``; target ``(n,)`` int64 or ``(n, k)`` probabilities; out ``()``.

    Example:
        >>> import torch
        >>> BalancedSoftmax([30, 10])(torch.zeros(1, 2), torch.tensor([0]))      # p = 30 / 40
        tensor(0.2877)
    """

    def __init__(self, counts: Counts, **options: Unpack[Options]) -> None:
        super().__init__(counts, tau=1.0, **options)

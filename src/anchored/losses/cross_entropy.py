r"""Cross entropy: minus the log-probability of the label.

.. math::  \ell(\mathbf p, y) = -\log p_y.

It is unbounded, and the sum of its row is not constant, so it follows wrong labels eagerly.
"""

from __future__ import annotations

import torch
from torch import Tensor

from anchored.losses._probability import OwnProbability

__all__ = ["CrossEntropy"]


class CrossEntropy(OwnProbability):
    """``F.cross_entropy``, as a member of this family; arguments as for :class:`~anchored.losses.Loss`.

    Shape:
        logits ``(n, k)``; target ``(n,)`` int64 or ``(n, k)`` probabilities; out ``()``.

    Example:
        >>> import torch
        >>> CrossEntropy()(torch.zeros(1, 4), torch.tensor([2]))      # log 4
        tensor(1.3863)
    """

    def value(self, log_p: Tensor) -> Tensor:
        """-log p."""
        return -log_p

    def value_and_slope(self, log_p: Tensor) -> tuple[Tensor, Tensor]:
        """-log p and -1."""
        return -log_p, -torch.ones_like(log_p)

    def total(self, log_p: Tensor) -> Tensor:
        """Sum ``(n,)`` of each row; nothing to compute entry by entry."""
        return -log_p.sum(dim=1)

r"""Cross entropy: minus the log-probability of the label.

.. math::  \ell(\mathbf p, y) = -\log p_y.

It is unbounded, and the sum of its row is not constant, so it learns wrong labels by heart.
"""

from __future__ import annotations

import torch
from torch import Tensor

from anchored.losses._probability import OwnProbability

__all__ = ["CrossEntropy"]


class CrossEntropy(OwnProbability):
    r"""``F.cross_entropy`` as a member of this family: :math:`\ell(\mathbf p, y) = -\log p_y`.

    Arguments as for :class:`~anchored.losses.Loss`.

    Shape:
        logits ``(n, k)``; target ``(n,)`` int64 or ``(n, k)`` probabilities; out ``()``.

    Example:
        >>> import torch
        >>> CrossEntropy()(torch.zeros(1, 4), torch.tensor([2]))      # log 4
        tensor(1.3863)
    """

    def value(self, log_p: Tensor) -> Tensor:
        """Return ``-log p``."""
        return -log_p

    def value_and_slope(self, log_p: Tensor) -> tuple[Tensor, Tensor]:
        """Return ``-log p`` and its slope -1."""
        return -log_p, -torch.ones_like(log_p)

    def total(self, log_p: Tensor) -> Tensor:
        """Return the sum ``(n,)`` of each row; nothing has to be computed entry by entry."""
        return -log_p.sum(dim=1)

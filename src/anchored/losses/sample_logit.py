r"""Negative sample logit: move the feature towards the prototype of its label, and do nothing else.

.. math::  \ell(\mathbf f, y) = -f_y = -\mathbf w_y^\top \mathbf z.

With anchored prototypes :math:`\sum_j \mathbf w_j = 0`, so the logits of every sample sum to zero and so does
the row: on such logits the loss is symmetric. Over arbitrary logits it is not, and neither is it
bounded; use it on a head that normalises features and anchors prototypes.
"""

from __future__ import annotations

from torch import Tensor

from anchored.losses._base import Loss, in_single_precision

__all__ = ["NegativeSampleLogit"]


class NegativeSampleLogit(Loss):
    r"""Minus the logit of the label: :math:`\ell(\mathbf f, y) = -f_y`.

    Arguments as for :class:`~anchored.losses.Loss`. ``symmetric`` is declared for arbitrary logits, hence False here;
    on logits that sum to zero the row does too.

    Shape:
        logits ``(n, k)``; target ``(n,)`` int64 or ``(n, k)`` probabilities; out ``()``.

    Example:
        >>> import torch
        >>> NegativeSampleLogit()(torch.tensor([[1.0, -0.5, -0.5]]), torch.tensor([0]))
        tensor(-1.)
    """

    shift_invariant = False
    nonnegative = False

    def per_class(self, logits: Tensor) -> Tensor:
        """Return values ``(n, k)``: minus the logits."""
        return -in_single_precision(logits)

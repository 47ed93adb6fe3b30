r"""A normalised loss: the value at the label divided by the sum of the values at all labels.

.. math::  \ell_{\text{norm}}(\mathbf f, y) = \frac{\ell(\mathbf f, y)}{\sum_{j=1}^{k} \ell(\mathbf f, j)}.

The row sums to 1 and lies in [0, 1], so any non-negative loss becomes symmetric and bounded. Cross
entropy, focal loss and generalised cross entropy become NCE, NFL and NGCE.

The price is a weak gradient on samples that are learned late; hence the sums of an active loss (such as
these) with a passive one (absolute error, reverse cross entropy).

References:
    Ma, Huang, Wang, Romano, Erfani and Bailey, 2020. Normalized Loss Functions for Deep Learning
    with Noisy Labels. ICML.
"""

from __future__ import annotations

from torch import Tensor

from anchored._errors import InputError
from anchored.losses._base import LabelledLogits, Loss, Reduction, Weight

__all__ = ["Normalized"]


class Normalized(Loss):
    r"""A loss divided by its sum over all labels, :math:`\ell(\mathbf f, y) / \sum_j \ell(\mathbf f, j)`.

    The sum is differentiated too.

    Args:
        loss: A loss that is never negative.
        weight: As for :class:`~anchored.losses.Loss`. If one of these three options is not given, that of ``loss`` is
            used.
        reduction: As for ``weight``.
        ignore_index: As for ``weight``.

    Shape:
        logits ``(n, k)`` with ``k >= 2``; target ``(n,)`` int64 or ``(n, k)`` probabilities; out ``()``.

    Example:
        >>> import torch
        >>> from anchored.losses import CrossEntropy
        >>> Normalized(CrossEntropy()).per_class(torch.zeros(1, 4))
        tensor([[0.2500, 0.2500, 0.2500, 0.2500]])
    """

    symmetric = True
    bounded = True

    def __init__(
        self,
        loss: Loss,
        *,
        weight: Weight = None,
        reduction: Reduction | None = None,
        ignore_index: int | None = None,
    ) -> None:
        if not isinstance(loss, Loss):
            raise InputError(f"only a loss can be normalised, got {loss!r}; give an object such as CrossEntropy()")
        if not loss.nonnegative:
            raise InputError(
                f"only a loss that is never negative can be normalised, got {type(loss).__name__}: "
                f"the sum over its labels may be 0"
            )
        super().__init__(
            weight=loss.weight if weight is None else weight,
            reduction=loss.reduction if reduction is None else reduction,
            ignore_index=loss.ignore_index if ignore_index is None else ignore_index,
        )
        self.loss = loss
        self.shift_invariant = loss.shift_invariant

    def per_class(self, logits: Tensor) -> Tensor:
        """Return values ``(n, k)`` that sum to 1 over each row."""
        row = self.loss.per_class(logits)
        return row / row.sum(dim=1, keepdim=True)

    def _at(self, batch: LabelledLogits) -> Tensor:
        return self.loss._at(batch) / self.loss._total(batch)

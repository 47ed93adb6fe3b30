r"""Dot regression: the squared distance of the label's logit from the largest it can be.

.. math::  \ell(\mathbf f, y) = \frac{(f_y - s)^2}{2 s}, \qquad s = \|\mathbf w_y\| \, \|\mathbf z\| .

On a head with anchored prototypes and normalised features the logits are cosines, :math:`s = 1`, and this
is :math:`\tfrac12 (\cos - 1)^2`. There is no push away from the other prototypes: they are far
apart already. The gradient vanishes linearly as the feature reaches its prototype.

References:
    Yang, Chen, Li, Xie, Lin and Tao, 2022. Inducing Neural Collapse in Imbalanced Learning: Do We Really
    Need a Learnable Classifier at the End of Deep Neural Network? NeurIPS.
"""

from __future__ import annotations

from typing import Unpack

from torch import Tensor

from anchored._checks import check_real
from anchored.losses._base import Loss, Options, in_single_precision

__all__ = ["DotRegression"]


class DotRegression(Loss):
    r"""Regression of the label's logit onto ``scale``: :math:`\ell(\mathbf f, y) = (f_y - s)^2 / (2 s)`.

    Args:
        scale: The largest logit that the head can give: the ``scale`` of a normalising head.
        options: ``weight``, ``reduction`` and ``ignore_index``, as for :class:`~anchored.losses.Loss`.

    Shape:
        logits ``(n, k)``; target ``(n,)`` int64 or ``(n, k)`` probabilities; out ``()``.

    Example:
        >>> import torch
        >>> DotRegression()(torch.tensor([[0.0, 1.0]]), torch.tensor([0]))
        tensor(0.5000)
    """

    _shown = "scale={self.scale:g}"

    shift_invariant = False

    def __init__(self, scale: float = 1.0, **options: Unpack[Options]) -> None:
        super().__init__(**options)
        self.scale = check_real("scale", scale, low=0, closed="neither")

    def per_class(self, logits: Tensor) -> Tensor:
        """Return values ``(n, k)``: the squared distance of every logit from ``scale``, divided by ``2 scale``."""
        return (in_single_precision(logits) - self.scale).square() / (2 * self.scale)

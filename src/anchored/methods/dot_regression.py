r"""Dot regression on a fixed simplex (ETF): BatchNorm makes the features signed, rare classes pull harder in a batch.

Pooled ReLU features pass a BatchNorm and are normalised; the prototypes are the anchors. In training, the prototype of
class c gets a length that depends on the batch: with B samples of U classes, :math:`B_c` of them of class c,

.. math::  \ell = \tfrac12 (r_y \mathbf w_y^\top \hat{\mathbf z} - r_y)^2 = \tfrac12 r_y^2 (1 - \cos)^2,
           \qquad r_c = \sqrt{\frac{B / U}{B_c}},

so that all classes of a batch count the same, and a batch in which they are equally frequent is not changed. At test
time all lengths are one: the prediction is the prototype with the largest cosine.

References:
    Yang, Chen, Li, Xie, Lin and Tao, 2022. Inducing Neural Collapse in Imbalanced Learning: Do We Really
    Need a Learnable Classifier at the End of Deep Neural Network? NeurIPS.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import torch
from torch import Tensor, nn

from anchored.losses import Loss
from anchored.methods.base import Classifier, Network, Procedure, Stage

__all__ = ["RectifiedDotRegression", "SimplexRegression", "squared_lengths"]


def squared_lengths(labels: Tensor, k: int) -> Tensor:
    r"""Compute the square of the prototype's length for each sample of a batch.

    .. math::  r_{y_i}^2 = \frac{B / U}{B_{y_i}}

    with B samples of U classes in the batch, :math:`B_c` of them of class c. The mean over the batch is one.

    Args:
        labels: Labels ``(n,)`` of the batch.
        k: Number of classes.

    Returns:
        ``(n,)``.

    Example:
        >>> squared_lengths(torch.tensor([0, 0, 0, 2]), 3)
        tensor([0.6667, 0.6667, 0.6667, 2.0000])
    """
    counts = torch.zeros(k, device=labels.device).index_add_(0, labels, torch.ones(len(labels), device=labels.device))
    return len(labels) / (counts > 0).sum() / counts[labels]


class RectifiedDotRegression:
    r"""Dot regression with lengths by batch, :math:`\tfrac12 r_y^2 (1 - \cos)^2`; logits are cosines.

    Args:
        loss: Dot regression with prototypes of length one.

    Example:
        >>> from anchored.losses import DotRegression
        >>> cosines = torch.zeros(4, 2)
        >>> RectifiedDotRegression(DotRegression()).pointwise(cosines, torch.tensor([0, 0, 0, 1]))
        tensor([0.3333, 0.3333, 0.3333, 1.0000])
    """

    def __init__(self, loss: Loss) -> None:
        self.loss = loss

    def pointwise(self, outputs: Tensor, labels: Tensor) -> Tensor:
        """Compute the values of the loss times the squared lengths.

        Args:
            outputs: Cosines ``(n, k)``.
            labels: Labels ``(n,)``.

        Returns:
            Values ``(n,)``.

        Example:
            >>> from anchored.losses import DotRegression
            >>> RectifiedDotRegression(DotRegression()).pointwise(torch.zeros(3, 2), torch.tensor([0, 0, 1]))
            tensor([0.3750, 0.3750, 0.7500])
        """
        values = self.loss.pointwise(outputs, labels)
        return values * squared_lengths(labels, outputs.shape[1]).to(values)


class SimplexRegression(Procedure):
    """One stage on anchors that signed features can reach."""

    title = "Dot regression"
    aliases = ("dr", "etf")
    about = "BatchNorm before it, lengths of prototypes rectified batch by batch"
    loss = "dot-regression"
    head: ClassVar[Mapping[str, object]] = {"head": "anchored", "normalize": True}
    goes_with = ("mixup", "drw", "fnpal")
    refused: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("pal", "fnpn"), "dot regression is defined on cosines with fixed prototypes; use 'dot-regression'"
    )

    def network(self) -> Network:
        """Build the backbone, BatchNorm, and anchors for signed features."""
        backbone = self.context.backbone()
        d = backbone.feature_dim
        return Classifier(backbone, self.context.head(d, signed_features=True), nn.BatchNorm1d(d))

    def representation(self) -> Stage:
        """Return the only stage; held-out data is scored with prototypes of length one."""
        plain = super().representation()
        assert isinstance(plain.loss, Loss)
        return replace(plain, loss=RectifiedDotRegression(plain.loss), score=plain.loss)

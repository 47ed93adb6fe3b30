r"""The head of Causal Norm: cosines in parts, and at test time without the direction that all features share.

The feature is cut into K parts, and each is compared with its part of a trained row,

.. math::  f_j(\mathbf z) = \frac{\tau}{K} \sum_{h=1}^{K} \frac{\mathbf w_j^h}{\lVert \mathbf w_j^h \rVert + \gamma}
           \cdot \hat{\mathbf z}^h, \qquad \hat{\mathbf z}^h = \frac{\mathbf z^h}{\lVert \mathbf z^h \rVert} ,

where :math:`\gamma > 0` lets long rows count a little more than short ones. In training the direction that features
share is followed with the mean of each batch; at test time it is taken out:

.. math::  \mathbf d \leftarrow \mu \mathbf d + \bar{\mathbf z}, \qquad
           \hat{\mathbf z}^h \leftarrow \hat{\mathbf z}^h - \alpha \cos(\mathbf z^h, \mathbf d^h)\, \hat{\mathbf d}^h .

References:
    Tang, Huang and Zhang, 2020. Long-Tailed Classification by Keeping the Good and Removing the Bad Momentum Causal
    Effect. NeurIPS.
"""

from __future__ import annotations

import math
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from anchored._errors import InputError
from anchored._random import generator_or_default
from anchored.heads._logits import unit, without_autocast

__all__ = ["CausalNormHead"]


class CausalNormHead(nn.Module):
    r"""A normalised classifier that follows the common direction in training and removes it in evaluation mode.

    .. math::  f_j(\mathbf z) = \frac{\tau}{K} \sum_{h=1}^{K} \frac{\mathbf w_j^h}{\lVert \mathbf w_j^h \rVert + \gamma}
               \cdot \bigl( \hat{\mathbf z}^h - \alpha \cos(\mathbf z^h, \mathbf d^h)\, \hat{\mathbf d}^h \bigr),

    with :math:`\alpha = 0` in training. The direction is a buffer that the forward pass moves in training mode, as the
    statistics of BatchNorm are moved.

    Args:
        in_features: Length d of a feature vector.
        num_classes: Number k of classes.
        parts: Number K of parts that features and rows are cut into; lengths differ by one entry if K does not
            divide d.
        scale: Sum of the factors on the cosines of the parts (tau).
        gamma: What is added to the length of a row.
        alpha: How much of the common direction is removed.
        momentum: How much of the direction is kept from batch to batch (mu).
        generator: Where the rows are drawn from; None gives the same rows every time.

    Shape:
        features ``(n, d)``; out ``(n, k)``.

    Example:
        >>> head = CausalNormHead(6, 3)
        >>> shared = torch.ones(2, 6)
        >>> _ = head.train()(shared)                         # follows the direction of the features
        >>> bool(head.removed(shared, alpha=1.0).abs().max() < 1e-6)     # there is nothing else in these
        True
    """

    direction: Tensor

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        parts: int = 2,
        scale: float = 16.0,
        gamma: float = 1 / 32,
        alpha: float = 1.5,
        momentum: float = 0.9,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if parts > in_features:
            raise InputError(f"parts must be at most the {in_features} features of the backbone, got {parts}")
        self.in_features, self.num_classes = in_features, num_classes
        self.scale, self.gamma, self.alpha, self.momentum = scale, gamma, alpha, momentum
        ends = [in_features * part // parts for part in range(parts + 1)]
        self.parts = [slice(*pair) for pair in pairwise(ends)]
        bound = 1 / math.sqrt(in_features)
        rows = torch.empty(num_classes, in_features).uniform_(-bound, bound, generator=generator_or_default(generator))
        self.weight = nn.Parameter(rows)
        self.register_buffer("direction", torch.zeros(in_features))

    def forward(self, features: Tensor) -> Tensor:
        """Compute logits ``(n, k)``."""
        with without_autocast(features.device):
            features = features.to(self.weight.dtype)
            if not self.training:
                return self.compared(self.removed(features, alpha=self.alpha))
            with torch.no_grad():
                self.direction.mul_(self.momentum).add_(features.mean(dim=0))
            return self.compared(self.directions(features))

    def compared(self, directions: Tensor) -> Tensor:
        """Compute logits ``(n, k)`` of ``directions`` ``(n, d)``, whose parts have their lengths already."""
        rows = torch.cat([self._shortened(self.weight[:, part]) for part in self.parts], dim=1)
        return self.scale / len(self.parts) * F.linear(directions, rows)

    def directions(self, features: Tensor) -> Tensor:
        """Bring each part of the features ``(n, d)`` to length one."""
        return torch.cat([unit(features[:, part]) for part in self.parts], dim=1)

    def removed(self, features: Tensor, *, alpha: float) -> Tensor:
        """Bring each part to length one and take out what it has in common with all features.

        Args:
            features: ``(n, d)``.
            alpha: How much of the common direction is taken out; 1 leaves nothing of it.

        Returns:
            ``(n, d)``.
        """
        parts = []
        for part in self.parts:
            own, common = unit(features[:, part]), unit(self.direction[part])
            parts.append(own - alpha * (own @ common)[:, None] * common)
        return torch.cat(parts, dim=1)

    def _shortened(self, rows: Tensor) -> Tensor:
        lengths: Tensor = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
        return rows / (lengths + self.gamma)

    def extra_repr(self) -> str:
        """Show the sizes and settings."""
        return (
            f"in_features={self.in_features}, num_classes={self.num_classes}, parts={len(self.parts)}, "
            f"scale={self.scale:g}, gamma={self.gamma:g}, alpha={self.alpha:g}, momentum={self.momentum:g}"
        )

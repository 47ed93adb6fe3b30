r"""Causal Norm: a normalised classifier in parts; at test time the direction that all features share is removed.

The feature is cut into K parts, and each is compared with its part of a trained row,

.. math::  f_j(\mathbf z) = \frac{\tau}{K} \sum_{h=1}^{K} \frac{\mathbf w_j^h}{\lVert \mathbf w_j^h \rVert + \gamma}
           \cdot \hat{\mathbf z}^h, \qquad \hat{\mathbf z}^h = \frac{\mathbf z^h}{\lVert \mathbf z^h \rVert} ,

where :math:`\gamma > 0` lets long rows count a little more than short ones. Momentum drags all features towards the
frequent classes. In training that direction is followed, with the mean of each batch; at test time it is taken out:

.. math::  \mathbf d \leftarrow \mu \mathbf d + \bar{\mathbf z}, \qquad
           \hat{\mathbf z}^h \leftarrow \hat{\mathbf z}^h - \alpha \cos(\mathbf z^h, \mathbf d^h)\, \hat{\mathbf d}^h .

With :math:`\alpha = 0` nothing is removed. A good :math:`\alpha` makes :math:`\alpha \cos` about one in the mean.

References:
    Tang, Huang and Zhang, 2020. Long-Tailed Classification by Keeping the Good and Removing the Bad Momentum Causal
    Effect. NeurIPS.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from anchored._checks import check_integer, check_real
from anchored._errors import InputError
from anchored._random import generator_or_default
from anchored.heads._logits import unit, without_autocast
from anchored.methods.classifier import Classifier
from anchored.methods.network import Network
from anchored.methods.procedure import Procedure

__all__ = ["CausalNorm", "CausalNormHead"]


class CausalNormHead(nn.Module):
    """The normalised classifier, which follows the common direction in training and removes it in evaluation mode.

    The direction is a buffer, moved by the forward pass in training mode as the statistics of BatchNorm are.

    Args:
        in_features: Length d of a feature vector.
        num_classes: Number k of classes.
        parts: Into how many parts features and rows are cut (K); they differ by one entry where d is no multiple.
        scale: Sum of the factors on the cosines of the parts (tau).
        gamma: What is added to the length of a row.
        alpha: How much of the common direction is removed.
        momentum: How much of the direction is kept from batch to batch (mu).
        generator: Where the rows are drawn from; None gives the same ones every time.

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
        """Logits ``(n, k)``."""
        with without_autocast(features.device):
            features = features.to(self.weight.dtype)
            if not self.training:
                return self.compared(self.removed(features, alpha=self.alpha))
            with torch.no_grad():
                self.direction.mul_(self.momentum).add_(features.mean(dim=0))
            return self.compared(self.directions(features))

    def compared(self, directions: Tensor) -> Tensor:
        """Logits ``(n, k)`` of ``directions`` ``(n, d)``, the parts of which have their lengths already."""
        rows = torch.cat([self._shortened(self.weight[:, part]) for part in self.parts], dim=1)
        return self.scale / len(self.parts) * F.linear(directions, rows)

    def directions(self, features: Tensor) -> Tensor:
        """Features ``(n, d)`` with each part brought to length one."""
        return torch.cat([unit(features[:, part]) for part in self.parts], dim=1)

    def removed(self, features: Tensor, *, alpha: float) -> Tensor:
        """The same, without ``alpha`` times what each part has in common with all features."""
        parts = []
        for part in self.parts:
            own, common = unit(features[:, part]), unit(self.direction[part])
            parts.append(own - alpha * (own @ common)[:, None] * common)
        return torch.cat(parts, dim=1)

    def _shortened(self, rows: Tensor) -> Tensor:
        lengths: Tensor = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
        return rows / (lengths + self.gamma)

    def extra_repr(self) -> str:
        """The sizes and settings."""
        return (
            f"in_features={self.in_features}, num_classes={self.num_classes}, parts={len(self.parts)}, "
            f"scale={self.scale:g}, gamma={self.gamma:g}, alpha={self.alpha:g}, momentum={self.momentum:g}"
        )


class CausalNorm(Procedure):
    """One stage of cross entropy with the head above."""

    @dataclass(frozen=True)
    class Options:
        """Settings of the method; its scale tau is the method's ``scale``.

        Attributes:
            parts: Into how many parts features are cut.
            gamma: What is added to the length of a row.
            alpha: How much of the common direction is removed at test time.
            momentum: How much of that direction is kept from batch to batch.
        """

        parts: int = 2
        gamma: float = 1 / 32
        alpha: float = 1.5
        momentum: float = 0.9

        def __post_init__(self) -> None:
            check_integer("parts", self.parts, low=1)
            check_real("gamma", self.gamma, low=0)
            check_real("alpha", self.alpha, low=0)
            check_real("momentum", self.momentum, low=0, high=1, closed="left")

    @classmethod
    def published(cls, source: str, counts: Tensor) -> dict[str, Any]:
        """More is removed on ImageNet, whose features have less in common."""
        return {"alpha": 3.0} if "imagenet" in source.lower() else {}

    def network(self) -> Network:
        """The backbone and the head."""
        given, options, backbone = self.given, self.options, self.given.backbone()
        scale = given.method.scale if given.scale is None else given.scale
        assert not isinstance(scale, str), "no noise-aware scale in this method"
        head = CausalNormHead(
            backbone.feature_dim,
            given.k,
            parts=options.parts,
            scale=scale,
            gamma=options.gamma,
            alpha=options.alpha,
            momentum=options.momentum,
            generator=given.generator("head"),
        )
        return Classifier(backbone, head)

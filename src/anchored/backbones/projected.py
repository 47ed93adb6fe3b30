r"""Features of a backbone brought to another dimension by a linear layer without bias: :math:`z = P\,\phi(x)`.

Features behind a ReLU reach only a part of a set of anchors, and fewer than ``k - 1`` of them leave no room for a
regular simplex of ``k`` prototypes. A linear layer to ``d >= k - 1`` dimensions, with no ReLU after it, removes both
limits. It also gives back the trained linear map that fixed prototypes take away from a network.

At first the entries of ``P`` are drawn from :math:`N(0, 1/d)`, so that the layer keeps the length of features on
average, :math:`\mathbb E\|P\phi\|^2 = \|\phi\|^2`, and a scale on the logits means the same with it as without.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from anchored._checks import check_integer
from anchored.backbones._base import Backbone
from anchored.backbones._initialise import Law, build

__all__ = ["ProjectedBackbone", "project"]


class ProjectedBackbone(Backbone):
    r"""Signed features :math:`P\,\phi(x)`: those of another backbone after a linear layer. Made by :func:`project`.

    Args:
        backbone: Maps inputs to features :math:`\phi(x)`, ``(n, m)``.
        projection: A linear layer :math:`P` without bias, from ``m`` to ``d``.
    """

    def __init__(self, backbone: Backbone, projection: nn.Linear) -> None:
        super().__init__(backbone.input_shape, feature_dim=projection.out_features, signed_features=True)
        self.backbone = backbone
        self.projection = projection

    def forward(self, inputs: Tensor) -> Tensor:
        """Return features ``(n, d)`` of inputs ``(n, *input_shape)``."""
        features: Tensor = self.projection(self.backbone(inputs))
        return features


def project(backbone: Backbone, feature_dim: object, *, generator: torch.Generator | None = None) -> ProjectedBackbone:
    """Put a linear layer without bias behind ``backbone``.

    Args:
        backbone: Any backbone.
        feature_dim: Length ``d`` of the new features, at least 1.
        generator: Draws the layer's weights, on the CPU, from N(0, 1 / d); None stands for a fresh one with seed 0.

    Returns:
        A backbone with signed features ``(n, d)``.

    Raises:
        InputError: If ``feature_dim`` is no positive whole number.

    Example:
        >>> from anchored import backbones
        >>> net = project(backbones.get("tiny", (8,)), 5)
        >>> net.feature_dim, net.signed_features, net(torch.zeros(2, 8)).shape
        (5, True, torch.Size([2, 5]))
    """
    size = check_integer("project", feature_dim, low=1, way_out="it is the number of features after the layer")
    draw = partial(nn.init.normal_, std=size**-0.5)
    layer = build(lambda: nn.Linear(backbone.feature_dim, size, bias=False), Law(conv=draw, linear=draw), generator)
    return ProjectedBackbone(backbone, layer)

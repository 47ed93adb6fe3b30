r"""Hyperspherical prototypes: unit vectors spread by descent, and a squared distance to one's own.

The prototypes minimise the largest cosine of each to another, in the mean,

.. math::  \frac1k \sum_i \max_{j \ne i} \mathbf w_i^\top \mathbf w_j,

by plain gradient steps from a random start, put back on the sphere after each. Their dimension is free; it is that of
the output of the network, a linear layer without a ReLU. What is minimised then is the square of one minus the cosine
with one's own prototype, :math:`(1 - \cos(\mathbf z, \mathbf w_y))^2`, and the prediction is the largest cosine.

References:
    Mettes, van der Pol and Snoek, 2019. Hyperspherical Prototype Networks. NeurIPS.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from anchored._checks import check_integer, check_real
from anchored._random import generator_or_default
from anchored.backbones._initialise import IMAGENET, build
from anchored.losses import Loss
from anchored.methods.network import Network
from anchored.methods.procedure import Procedure
from anchored.methods.projected import Projected
from anchored.methods.stage import Stage

__all__ = ["HypersphericalPrototypes", "spread"]

_GAIN, _PATIENCE = 1e-4, 500
"""A gain worth going on for, and the number of steps after which none is to be expected."""


def spread(
    k: int, d: int, *, steps: int = 10_000, learning_rate: float = 0.1, generator: torch.Generator | None = None
) -> Tensor:
    """Unit rows ``(k, d)``, each pushed away from its nearest neighbour; the best that the descent came by.

    Args:
        k: Number of classes.
        d: Number of dimensions.
        steps: Gradient steps at most. The learning rate stays as it is, so few classes soon go round in a circle; that
            ends the descent.
        learning_rate: Of the steps.
        generator: Draws the starting point. None means seed 0.

    Example:
        >>> w = spread(3, 2)                                 # close to the triangle, whose cosines are -1/2
        >>> bool((w @ w.T).fill_diagonal_(-1).max() < -0.45), w.shape
        (True, torch.Size([3, 2]))
    """
    w = F.normalize(torch.randn(k, d, generator=generator_or_default(generator)), dim=1)
    best, lowest, since = w, math.inf, 0
    for _ in range(steps):
        largest, nearest = (w @ w.T).fill_diagonal_(-2.0).max(dim=1)
        value = float(largest.mean())
        since = 0 if value < lowest - _GAIN else since + 1
        if value < lowest:
            best, lowest = w, value
        if since == _PATIENCE:
            break
        # Of w_i . w_j both ends move: every row away from its nearest, and the nearest away from it.
        gradient = w[nearest].index_add(0, nearest, w) / k
        w = F.normalize(w - learning_rate * gradient, dim=1)
    return best


class HypersphericalPrototypes(Procedure):
    """One stage on prototypes that are spread before it."""

    @dataclass(frozen=True)
    class Options:
        """Settings of the method.

        Attributes:
            dimensions: Of prototypes and output; None for one per class.
            steps: Of the descent that spreads the prototypes.
            learning_rate: Of the same.
            weight: Of the loss. The authors train with the sum over 128 samples at a learning rate of 0.01, which is
                12.8 times the mean at one of 0.1; the mean itself hardly moves anything at usual rates.
        """

        dimensions: int | None = None
        steps: int = 10_000
        learning_rate: float = 0.1
        weight: float = 12.8

        def __post_init__(self) -> None:
            if self.dimensions is not None:
                check_integer("dimensions", self.dimensions, low=2)
            check_integer("steps", self.steps, low=1)
            for name in ("learning_rate", "weight"):
                check_real(name, getattr(self, name), low=0, closed="neither")

    def network(self) -> Network:
        """The backbone, a linear layer, and the prototypes."""
        given, options, backbone = self.given, self.options, self.given.backbone()
        d = options.dimensions or given.k
        output = build(lambda: nn.Linear(backbone.feature_dim, d), IMAGENET, given.generator("projection"))
        head = given.head(
            d,
            prototypes=lambda: spread(
                given.k,
                d,
                steps=options.steps,
                learning_rate=options.learning_rate,
                generator=given.generator("prototypes"),
            ),
        )
        return Projected(backbone, output, head)

    def representation(self) -> Stage:
        """The only stage. Dot regression is half the squared distance of the cosine from one."""
        plain = super().representation()
        assert isinstance(plain.loss, Loss)
        return replace(plain, loss=2 * self.options.weight * plain.loss, score=2 * plain.loss)

r"""Equiangular basis vectors: unit prototypes that are nearly orthogonal.

.. math::  |\mathbf w_i^\top \mathbf w_j| \le \alpha \quad (i \ne j)

The network ends in a linear layer to their dimension d; logits are cosines divided by the temperature 0.07, and the
loss is cross entropy. Where there are no more classes than dimensions, an orthonormal basis is such a set, whatever
:math:`\alpha`. Beyond, gradient steps bring the excess to zero, back on the sphere after each:

.. math::  \sum_{i \ne j} \max(0, |\mathbf w_i^\top \mathbf w_j| - \alpha), \qquad
           \alpha \ge \sqrt{\frac{k - d}{d (k - 1)}} \quad\text{(Welch: no k vectors do with less)}.

The absolute value forbids opposite prototypes as well, so these are not as far apart as anchors are.

References:
    Shen, Sun and Wei, 2023. Equiangular Basis Vectors. CVPR.
    Welch, 1974. Lower Bounds on the Maximum Cross Correlation of Signals. IEEE Transactions on Information Theory.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from anchored._checks import check_integer, check_real
from anchored._errors import InputError
from anchored._random import generator_or_default
from anchored.backbones._initialise import IMAGENET, build
from anchored.methods.network import Network
from anchored.methods.procedure import Procedure
from anchored.methods.projected import Projected
from anchored.prototypes._rotation import haar_frame

__all__ = ["EquiangularVectors", "nearly_orthogonal"]

_TOLERANCE = 1e-4


def nearly_orthogonal(
    k: int,
    d: int,
    *,
    alpha: float = 0.002,
    steps: int = 100_000,
    learning_rate: float = 1e-3,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Unit rows ``(k, d)`` whose cosines are at most ``alpha`` in absolute value, up to 1e-4.

    Args:
        k: Number of classes.
        d: Number of dimensions.
        alpha: The largest absolute cosine.
        steps: After so many the search is given up.
        learning_rate: Of the search.
        generator: Draws the basis, or the starting point. None means seed 0.

    Example:
        >>> w = nearly_orthogonal(6, 4, alpha=0.5)
        >>> bool((w @ w.T - torch.eye(6)).abs().max() <= 0.5001)
        True
    """
    generator = generator_or_default(generator)
    if k <= d:
        return haar_frame(d, k, generator).T.float()
    welch = math.sqrt((k - d) / (d * (k - 1)))
    if alpha < welch:
        raise InputError(
            f"alpha must be at least {welch:.4f} for {k} vectors in {d} dimensions (Welch's bound), got {alpha:g}; "
            f"raise it, or dimensions to {k}"
        )
    w = F.normalize(torch.randn(k, d, generator=generator), dim=1)
    every = torch.arange(k)
    for _ in range(steps):
        cosines = w @ w.T
        cosines[every, every] = 0.0
        beyond = cosines.abs() > alpha
        if not bool((cosines.abs() > alpha + _TOLERANCE).any()):
            return w
        # Each pair stands twice in the sum.
        w = F.normalize(w - 2 * learning_rate * (cosines.sign() * beyond) @ w, dim=1)
    reached = float(cosines.abs().max())
    raise InputError(
        f"{k} vectors in {d} dimensions have cosines of up to {reached:.4f} after {steps} steps, asked for {alpha:g}; "
        f"raise alpha to {reached:.3g}, or dimensions"
    )


class EquiangularVectors(Procedure):
    """One stage on prototypes that are nearly orthogonal."""

    @dataclass(frozen=True)
    class Options:
        """Settings of the method.

        Attributes:
            dimensions: Of prototypes and output; None for one per class.
            alpha: The largest absolute cosine between prototypes.
            steps: After so many the search for them is given up.
        """

        dimensions: int | None = None
        alpha: float = 0.002
        steps: int = 100_000

        def __post_init__(self) -> None:
            if self.dimensions is not None:
                check_integer("dimensions", self.dimensions, low=2)
            check_real("alpha", self.alpha, low=0, high=1, closed="left")
            check_integer("steps", self.steps, low=1)

    def network(self) -> Network:
        """The backbone, a linear layer, and the prototypes."""
        given, options, backbone = self.given, self.options, self.given.backbone()
        d = options.dimensions or given.k
        output = build(lambda: nn.Linear(backbone.feature_dim, d), IMAGENET, given.generator("projection"))
        head = given.head(
            d,
            prototypes=lambda: nearly_orthogonal(
                given.k, d, alpha=options.alpha, steps=options.steps, generator=given.generator("prototypes")
            ),
        )
        return Projected(backbone, output, head)

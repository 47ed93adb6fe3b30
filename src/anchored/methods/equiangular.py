r"""Equiangular basis vectors: unit prototypes that are nearly orthogonal.

The prototypes are those of :func:`anchored.prototypes.nearly_orthogonal`, whose cosines are at most
:math:`\alpha` in absolute value. The network ends in a linear layer to their dimension d; logits are cosines divided by
the temperature 0.07, and the loss is cross entropy.

References:
    Shen, Sun and Wei, 2023. Equiangular Basis Vectors. CVPR.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from anchored._checks import check_integer, check_real
from anchored.backbones import IMAGENET, build
from anchored.methods.base import Classifier, Network, Procedure
from anchored.prototypes import nearly_orthogonal

__all__ = ["EquiangularVectors"]


class EquiangularVectors(Procedure):
    """One stage on prototypes that are nearly orthogonal."""

    title = "Equiangular vectors"
    aliases = ("ebv",)
    about = "nearly orthogonal prototypes"
    head: ClassVar[Mapping[str, object]] = {"head": "anchored", "normalize": True, "scale": 1 / 0.07}
    goes_with = ("mixup",)
    refused: ClassVar[Mapping[str, str]] = dict.fromkeys(("pal", "fnpal"), "its prototypes are fixed already")

    @dataclass(frozen=True)
    class Options:
        """Settings of the method.

        Attributes:
            dimensions: Length of prototypes and of the network's output; None for one per class.
            alpha: The largest absolute cosine between prototypes.
            steps: Number of steps after which the search for them is given up.
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
        """Build the backbone, a linear layer, and the prototypes."""
        context, options, backbone = self.context, self.options, self.context.backbone()
        d = options.dimensions or context.k
        output = build(lambda: nn.Linear(backbone.feature_dim, d), IMAGENET, context.generator("projection"))
        head = context.head(
            d,
            prototypes=lambda: nearly_orthogonal(
                context.k, d, alpha=options.alpha, steps=options.steps, generator=context.generator("prototypes")
            ),
        )
        return Classifier(backbone, head, output)

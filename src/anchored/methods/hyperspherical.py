r"""Hyperspherical prototypes: unit vectors spread by descent, and a squared distance to one's own.

The prototypes are those of :func:`anchored.prototypes.spread`. Their dimension is free; it is that of the output of the
network, a linear layer without a ReLU. What is minimised is the square of one minus the cosine with one's own
prototype, :math:`(1 - \cos(\mathbf z, \mathbf w_y))^2`, and the prediction is the largest cosine.

References:
    Mettes, van der Pol and Snoek, 2019. Hyperspherical Prototype Networks. NeurIPS.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from torch import nn

from anchored._checks import check_integer, check_real
from anchored.backbones import IMAGENET, build
from anchored.losses import Loss
from anchored.methods.base import Classifier, Network, Procedure, Stage
from anchored.prototypes import spread

__all__ = ["HypersphericalPrototypes"]


class HypersphericalPrototypes(Procedure):
    """One stage on prototypes that are spread before it."""

    title = "Hyperspherical prototypes"
    aliases = ("hpn",)
    about = "prototypes spread over the sphere by descent"
    loss = "dot-regression"
    head: ClassVar[Mapping[str, object]] = {"head": "anchored", "normalize": True}
    goes_with = ()
    refused: ClassVar[Mapping[str, str]] = dict.fromkeys(("pal", "fnpal"), "its prototypes are fixed already")

    @dataclass(frozen=True)
    class Options:
        """Settings of the method.

        Attributes:
            dimensions: Length of prototypes and of the network's output; None for one per class.
            steps: Largest number of steps of the descent that spreads the prototypes.
            learning_rate: Learning rate of that descent.
            weight: Factor on the loss. The authors train with the sum over 128 samples at a rate of 0.01, which
                is 12.8 times the mean at a rate of 0.1; the mean itself hardly moves anything at usual rates.
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
        """Build the backbone, a linear layer, and the prototypes."""
        context, options, backbone = self.context, self.options, self.context.backbone()
        d = options.dimensions or context.k
        output = build(lambda: nn.Linear(backbone.feature_dim, d), IMAGENET, context.generator("projection"))
        head = context.head(
            d,
            prototypes=lambda: spread(
                context.k,
                d,
                steps=options.steps,
                learning_rate=options.learning_rate,
                generator=context.generator("prototypes"),
            ),
        )
        return Classifier(backbone, head, output)

    def representation(self) -> Stage:
        r"""Return the only stage: the weight times :math:`(1 - \cos)^2`, which is twice dot regression."""
        plain = super().representation()
        assert isinstance(plain.loss, Loss)
        return replace(plain, loss=2 * self.options.weight * plain.loss, score=2 * plain.loss)

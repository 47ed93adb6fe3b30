"""Causal Norm: a normalised classifier in parts; at test time the direction that all features share is removed.

Momentum drags all features towards the frequent classes. :class:`anchored.heads.CausalNormHead` follows that direction
in training and removes ``alpha`` times its share at test time; its docstring has the formulas. With ``alpha = 0``
nothing is removed. A good ``alpha`` makes ``alpha`` times the cosine with that direction about one in the mean.

References:
    Tang, Huang and Zhang, 2020. Long-Tailed Classification by Keeping the Good and Removing the Bad Momentum Causal
    Effect. NeurIPS.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from anchored._checks import check_integer, check_real
from anchored._names import benchmark
from anchored.heads import CausalNormHead
from anchored.methods.base import Classifier, Network, Procedure

__all__ = ["CausalNorm"]


class CausalNorm(Procedure):
    """Causal Norm: one stage of cross entropy with :class:`anchored.heads.CausalNormHead`."""

    title = "Causal Norm"
    aliases = ("causal norm", "tde")
    about = "cosines in several parts, the common direction of features removed at test time"
    head: ClassVar[Mapping[str, object]] = {"head": "cosine", "normalize": True, "scale": 16.0}
    goes_with = ()
    refused: ClassVar[Mapping[str, str]] = {
        "pal": "its classifier is its own",
        "mixup": "mixed features all point to the common direction, and removing it removes the frequent classes",
    }
    corrects_imbalance = True

    @dataclass(frozen=True)
    class Options:
        """Settings of the method; its scale tau is the method's ``scale``.

        Attributes:
            parts: Number of parts that features are cut into.
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
    def published_options(cls, source: str, counts: Tensor) -> dict[str, Any]:
        """Return the reference's options for this data: more is removed on ImageNet-LT.

        Args:
            source: Name or path of the data.
            counts: Training samples per class, ``(k,)``.

        Returns:
            Names of options and their values.

        Example:
            >>> CausalNorm.published_options("ImageNet_LT_train.txt", Tensor([1280, 5]))
            {'alpha': 3.0}
        """
        return {"alpha": 3.0} if benchmark(source) == "imagenet-lt" else {}

    def network(self) -> Network:
        """Build the backbone and the head."""
        context, options, backbone = self.context, self.options, self.context.backbone()
        scale = context.method.scale if context.scale is None else context.scale
        assert not isinstance(scale, str), "no noise-aware scale in this method"
        head = CausalNormHead(
            backbone.feature_dim,
            context.k,
            parts=options.parts,
            scale=scale,
            gamma=options.gamma,
            alpha=options.alpha,
            momentum=options.momentum,
            generator=context.generator("head"),
        )
        return Classifier(backbone, head)

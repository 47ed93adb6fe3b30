"""A method is a value: which head, which loss, which batches and weights, and nothing that runs.

The paper's row names are read by :func:`anchored.methods.parse`; the training loop reads only this
description. A method that needs its own network or inference rule is a file of its own beside this one, with a
subclass of :class:`anchored.methods.Procedure`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["HeadKind", "Method"]

HeadKind = Literal["linear", "cosine", "anchored", "computed"]


@dataclass(frozen=True, kw_only=True)
class Method:
    """What a row name of the paper stands for: a head, a loss, batches and weights.

    Example:
        >>> from anchored.methods import parse
        >>> method = parse("NCE+RCE+FNPAL")
        >>> method.head, method.normalize, method.scale, method.loss
        ('anchored', True, 10.0, 'nce+rce')
        >>> print(method.describe())
        loss nce+rce on a fixed anchored head, features normalised, scale 10
    """

    name: str
    """The canonical name: lower case, loss first, then ``mixup``, ``drw``, and the head."""
    loss: str
    """A name of :func:`anchored.losses.get`."""
    head: HeadKind = "linear"
    """``linear`` and ``cosine`` are trained; ``anchored`` keeps its prototypes fixed."""
    normalize: bool = False
    """Whether features are projected on the unit sphere before the head."""
    scale: float | Literal["noise-aware"] = 1.0
    """What the head multiplies its cosines with; ``noise-aware`` is 0.25/(0.05+eta), known once eta is."""
    loss_scale: float | None = None
    """The scale inside a margin loss (LDAM's s), if the loss and not the head applies it."""
    mixup: bool = False
    """Whether pairs of samples and of labels are blended."""
    deferred: bool = False
    """Whether class-balanced weights begin late in training (DRW)."""
    weighting: Literal["none", "class-balanced"] = "none"
    """Weights of the loss from the first epoch on."""
    sampling: Literal["instance", "balanced", "square-root", "reversed", "effective-number"] = "instance"
    """How the samples of an epoch are drawn; see :func:`anchored.imbalance.epoch_order`."""
    algorithm: str = "single"
    """The entry of :data:`anchored.methods.PROCEDURES` that trains it: ``single`` is one stage on backbone and head."""
    about: str = ""
    """What the algorithm does beyond that, in a few words."""
    first_stage: str | None = None
    """The method whose whole training is the first stage of this one; None if there is no such method."""

    @property
    def anchored(self) -> bool:
        """Whether the prototypes are fixed."""
        return self.head == "anchored"

    @property
    def noise_aware(self) -> bool:
        """Whether the scale depends on the noise rate."""
        return self.scale == "noise-aware"

    def describe(self) -> str:
        """Describe the method in one line, as the log and the report show it."""
        if self.head == "computed":
            return self.about
        kind = {"linear": "a trained linear head", "cosine": "a trained cosine head"}.get(
            self.head, "a fixed anchored head"
        )
        parts = [f"loss {self.loss} on {kind}"]
        if self.normalize:
            parts.append("features normalised")
        if self.scale != 1.0:
            parts.append("scale from the noise rate" if self.noise_aware else f"scale {self.scale:g}")
        if self.loss_scale is not None:
            parts.append(f"scale {self.loss_scale:g} in the loss")
        if self.mixup:
            parts.append("mixup")
        if self.deferred:
            parts.append("deferred class-balanced weights")
        if self.weighting != "none":
            parts.append("class-balanced weights")
        if self.sampling != "instance":
            parts.append(f"{self.sampling} sampling")
        if self.about:
            parts.append(self.about)
        return ", ".join(parts)

"""The names of methods that have a file of their own: what each does beyond one stage, and what it goes with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["OWN", "OwnMethod"]

_NO_ANCHORS = "its classifier is its own"


@dataclass(frozen=True, kw_only=True)
class OwnMethod:
    """What the parser has to know of such a method.

    Attributes:
        about: What it does, in a few words.
        loss: Of its first stage, a name of :func:`anchored.losses.get`.
        first_stage: The method whose training is its first stage, where it has such.
        head: Settings of the head without anchors, as fields of :class:`anchored.methods.Method`.
        goes_with: The modifiers that may follow.
        refused: Why another modifier may not.
    """

    about: str
    loss: str = "ce"
    first_stage: str | None = None
    head: Mapping[str, object] = field(default_factory=lambda: {"head": "linear"})
    goes_with: tuple[str, ...] = ("mixup", "pal")
    refused: Mapping[str, str] = field(default_factory=dict)


OWN: Mapping[str, OwnMethod] = {
    "crt": OwnMethod(first_stage="ce", about="then a fresh classifier on balanced batches"),
    "lws": OwnMethod(first_stage="ce", about="then one learned factor per class on balanced batches"),
    "tau-norm": OwnMethod(
        first_stage="ce",
        about="then rows divided by a power of their length",
        goes_with=("mixup",),
        refused={"pal": "anchors all have length one, so there is nothing to normalise"},
    ),
    "ncm": OwnMethod(first_stage="ce", about="then the nearest class mean"),
    "mislas": OwnMethod(
        first_stage="ce+mixup",
        about="then label-aware smoothing and scaled rows on balanced batches",
        goes_with=("pal",),
        refused={"mixup": "its first stage has mixup already"},
    ),
    "pc-softmax": OwnMethod(first_stage="ce", about="then the log prior taken off the logits"),
    "post-hoc": OwnMethod(first_stage="ce", about="then the scaled log prior taken off the logits"),
    "bbn": OwnMethod(about="two branches, one on reversed batches, mixed over time", goes_with=("pal",)),
    "tade": OwnMethod(
        about="three experts with three priors",
        head={"head": "cosine", "normalize": True, "scale": 30.0},
        goes_with=("pal",),
    ),
    "causal-norm": OwnMethod(
        about="cosines in several parts, the common direction of features removed at test time",
        head={"head": "cosine", "normalize": True, "scale": 16.0},
        goes_with=(),
        refused={
            "pal": _NO_ANCHORS,
            "mixup": "mixed features all point to the common direction, and removing it removes the frequent classes",
        },
    ),
    "oltr": OwnMethod(
        first_stage="ce",
        about="then attention, a memory of centroids and a cosine classifier on balanced batches",
        goes_with=(),
        refused={"pal": _NO_ANCHORS},
    ),
    "dot-regression": OwnMethod(
        about="BatchNorm before it, lengths of prototypes rectified batch by batch",
        loss="dot-regression",
        head={"head": "anchored", "normalize": True},
        goes_with=("mixup", "drw", "fnpal"),
        refused={
            "pal": "dot regression is defined on cosines with fixed prototypes; use 'dot-regression'",
            "fnpn": "dot regression is defined on cosines with fixed prototypes; use 'dot-regression'",
        },
    ),
    "hyperspherical": OwnMethod(
        about="prototypes spread over the sphere by descent",
        loss="dot-regression",
        head={"head": "anchored", "normalize": True},
        goes_with=(),
        refused={"pal": "its prototypes are fixed already", "fnpal": "its prototypes are fixed already"},
    ),
    "equiangular": OwnMethod(
        about="nearly orthogonal prototypes",
        head={"head": "anchored", "normalize": True, "scale": 1 / 0.07},
        goes_with=("mixup",),
        refused={"pal": "its prototypes are fixed already", "fnpal": "its prototypes are fixed already"},
    ),
}
"""By name."""

"""Heads turn features ``(..., d)`` into logits ``(..., k)``: anchored, cosine, linear, and those of a second stage.

Every head is ``logits = rows @ x + offset``, with the feature vector ``x`` or, if ``normalize`` is set, its
direction. ``rows()`` and ``offset()`` return the two, whatever the head trains or keeps fixed. Only the nearest class
mean, which compares distances, is a module of another kind.
"""

from anchored.heads._base import Head
from anchored.heads._logits import unit, without_autocast
from anchored.heads._settings import complete_settings
from anchored.heads.anchor import anchor_
from anchored.heads.anchored import AnchoredHead
from anchored.heads.anchored_conv import AnchoredConv
from anchored.heads.causal_norm import CausalNormHead
from anchored.heads.cosine import CosineHead
from anchored.heads.features import features_of
from anchored.heads.linear import LinearHead
from anchored.heads.memory import MemoryHead
from anchored.heads.nearest_mean import MeanTransform, NearestMeanHead
from anchored.heads.scaled import ScaledHead
from anchored.heads.shifted import ShiftedHead
from anchored.heads.tau_norm import TauNormHead

__all__ = [
    "AnchoredConv",
    "AnchoredHead",
    "CausalNormHead",
    "CosineHead",
    "Head",
    "LinearHead",
    "MeanTransform",
    "MemoryHead",
    "NearestMeanHead",
    "ScaledHead",
    "ShiftedHead",
    "TauNormHead",
    "anchor_",
    "complete_settings",
    "features_of",
    "unit",
    "without_autocast",
]

"""Judge ``kernel-ridge``: anchored least squares on Gaussian kernel features (Nyström), leave-one-out."""

from __future__ import annotations

from torch import Tensor

from anchored.audit.judges.base import Vectors
from anchored.audit.judges.ridge import closed_form

__all__ = ["kernel_ridge"]

_LANDMARKS = 250
"""Fewer than for a model that is kept: a judge needs the shape of the classes, and the time grows with their square."""


def kernel_ridge(vectors: Vectors) -> Tensor:
    """Judge by kernel ridge regression onto the anchors; width and strength by leave-one-out likelihood."""
    return closed_form(vectors, kernel="rbf", landmarks=_LANDMARKS)

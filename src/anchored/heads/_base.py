"""The base of all heads: k rows and perhaps k offsets, applied to a feature vector or to its direction."""

from abc import ABC, abstractmethod

from torch import Tensor

from anchored._checks import check_integer
from anchored.heads._settings import KeepsSettings

__all__ = ["Head"]


class Head(KeepsSettings, ABC):
    """The last layer of a classifier: ``logits = rows @ x + offset``.

    Sizes are named as in :class:`torch.nn.Linear`.

    Args:
        in_features: Length d of a feature vector.
        num_classes: Number k of classes.

    Shape:
        features ``(..., d)``; out ``(..., k)``.
    """

    def __init__(self, in_features: int, num_classes: int) -> None:
        super().__init__()
        self.in_features = check_integer("in_features", in_features, low=1)
        self.num_classes = check_integer(
            "num_classes", num_classes, low=2, way_out="a single class needs no classifier"
        )

    @property
    def normalize(self) -> bool:
        """Whether the head sees only the direction of a feature vector."""
        return False

    @property
    def out_features(self) -> int:
        """The number of classes, under the name that torch's layers use."""
        return self.num_classes

    @abstractmethod
    def forward(self, features: Tensor) -> Tensor:
        """Return logits ``(..., k)`` of features ``(..., d)``."""

    @abstractmethod
    def rows(self) -> Tensor:
        """Return the rows ``(k, d)`` that a feature vector (or its direction) is multiplied with, scale included."""

    def offset(self) -> Tensor | None:
        """Return the offsets ``(k,)`` that are added to the product, or None if there are none."""
        return None

    def extra_repr(self) -> str:
        """Return the sizes, as in the constructor."""
        return f"in_features={self.in_features}, num_classes={self.num_classes}"

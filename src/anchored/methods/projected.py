"""A classifier with a layer between backbone and head, which decides what directions features can have."""

from __future__ import annotations

from torch import Tensor, nn

from anchored.methods.classifier import Classifier

__all__ = ["Projected"]


class Projected(Classifier):
    """Logits of normalised inputs, by way of ``projection``.

    Fixed prototypes may lie in any direction, features that come out of a ReLU may not. A layer without one after
    it puts every direction within reach, and may change the dimension.

    Args:
        backbone: Maps inputs to vectors.
        projection: Maps those to features ``(n, d)``.
        head: Maps features to logits ``(n, k)``.

    Example:
        >>> import torch
        >>> from anchored import AnchoredHead, backbones
        >>> model = Projected(backbones.get("tiny", (8,)), nn.Linear(32, 5), AnchoredHead(5, 3))
        >>> model.features(torch.zeros(2, 8)).shape, model(torch.zeros(2, 8)).shape
        (torch.Size([2, 5]), torch.Size([2, 3]))
    """

    def __init__(self, backbone: nn.Module, projection: nn.Module, head: nn.Module) -> None:
        super().__init__(backbone, head)
        self.projection = projection

    def features(self, inputs: Tensor) -> Tensor:
        """Features ``(n, d)``: the projection of what the backbone answers."""
        features: Tensor = self.projection(super().features(inputs))
        return features

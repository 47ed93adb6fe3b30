"""A classifier is a backbone and a head: features, then logits."""

from __future__ import annotations

from torch import Tensor, nn

from anchored.methods.network import Network

__all__ = ["Classifier"]


class Classifier(Network):
    """Logits of normalised inputs.

    Args:
        backbone: Maps inputs to features ``(n, d)``.
        head: Maps features to logits ``(n, k)``.

    Example:
        >>> import torch
        >>> from anchored import AnchoredHead, backbones
        >>> model = Classifier(backbones.get("tiny", (8,)), AnchoredHead(32, 3))
        >>> model(torch.zeros(2, 8)).shape
        torch.Size([2, 3])
    """

    def __init__(self, backbone: nn.Module, head: nn.Module) -> None:
        super().__init__()
        self.input_shape = tuple(backbone.input_shape)  # type: ignore[arg-type]  # every backbone says its shape
        self.backbone = backbone
        self.head = head

    def features(self, inputs: Tensor) -> Tensor:
        """Features ``(n, d)``: what the head sees."""
        features: Tensor = self.backbone(inputs)
        return features

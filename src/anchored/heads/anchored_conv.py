"""The anchored head for feature maps: the same logits at every pixel, in place of a 1x1 convolution."""

from torch import Tensor

from anchored.heads.anchored import AnchoredHead

__all__ = ["AnchoredConv"]


class AnchoredConv(AnchoredHead):
    """An :class:`AnchoredHead` whose features lie along the channels of a map: ``f_j = s w_j · z`` at every pixel.

    Shape:
        features ``(n, d, h, w)`` or ``(d, h, w)``; out ``(n, k, h, w)`` or ``(k, h, w)``.

    Example:
        >>> import torch
        >>> AnchoredConv(8, 3)(torch.zeros(2, 8, 5, 5)).shape
        torch.Size([2, 3, 5, 5])
    """

    def forward(self, features: Tensor) -> Tensor:
        """Return the logits at every pixel."""
        return self.logits(features.movedim(-3, -1)).movedim(-1, -3)

"""The smallest useful network, for tests and trials: any image or vector in, 32 features out, no BatchNorm.

Images pass one convolution of 8 channels and an average-pool to between 4 and 7 cells a side (fewer
if the image has fewer pixels); vectors pass one linear layer of 32. A second linear layer makes
the feature. Without BatchNorm the gradient of a batch is the mean of the gradients of its samples,
so splitting a batch over processes changes nothing but rounding.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from anchored._checks import check_integer
from anchored.backbones._base import Backbone, check_shape
from anchored.backbones._initialise import PLAIN, build

__all__ = ["Tiny", "tiny"]


class Tiny(Backbone):
    """One convolution (or linear layer) and one linear layer. :func:`tiny` fills it from a generator.

    Args:
        input_shape: ``(d,)`` or ``(channels, height, width)``, of any size.
        feature_dim: Length of the features.
        last_relu: Whether the features pass a last ReLU.

    Shape:
        inputs ``(n, *input_shape)``; out ``(n, feature_dim)``.

    Example:
        >>> Tiny((3, 5, 9))(torch.zeros(2, 3, 5, 9)).shape
        torch.Size([2, 32])
    """

    def __init__(self, input_shape: Iterable[int], *, feature_dim: int = 32, last_relu: bool = True) -> None:
        shape = check_shape(input_shape)
        feature_dim = check_integer("feature_dim", feature_dim, low=1)
        super().__init__(shape, feature_dim=feature_dim, signed_features=not last_relu)
        if len(shape) == 1:
            middle = 32
            self.first: nn.Module = nn.Sequential(nn.Linear(shape[0], middle), nn.ReLU(inplace=True))
        else:
            channels, height, width = shape
            cell = max(1, height // 4), max(1, width // 4)
            middle = 8 * (height // cell[0]) * (width // cell[1])
            convolution = nn.Conv2d(channels, 8, 3, padding=1)
            self.first = nn.Sequential(convolution, nn.ReLU(inplace=True), nn.AvgPool2d(cell), nn.Flatten())
        self.second = nn.Linear(middle, feature_dim)
        self.last = nn.ReLU(inplace=True) if last_relu else nn.Identity()

    def forward(self, inputs: Tensor) -> Tensor:
        """Return features ``(n, feature_dim)``."""
        features: Tensor = self.last(self.second(self.first(inputs)))
        return features


def tiny(
    input_shape: Iterable[int],
    *,
    last_relu: bool = True,
    generator: torch.Generator | None = None,
    feature_dim: int = 32,
) -> Tiny:
    """Build a :class:`Tiny` with weights from a generator.

    Args:
        input_shape: ``(d,)`` or ``(channels, height, width)``, of any size.
        last_relu: Whether the features pass a last ReLU.
        generator: Source of the weights; None means seed 0.
        feature_dim: Length of the features.

    Returns:
        A network with ``feature_dim`` features.

    Example:
        >>> sum(p.numel() for p in tiny((1, 8, 8)).parameters())
        4208
    """
    return build(lambda: Tiny(input_shape, feature_dim=feature_dim, last_relu=last_relu), PLAIN, generator)

"""Plain convolutional networks: units of convolution, BatchNorm and ReLU, with a max-pool after each block.

========  ===========================================  ===  =============================================
name      convolution widths ("/": a 2 x 2 max-pool)   d    parameters with a linear head of ten classes
========  ===========================================  ===  =============================================
``cnn4``  32 / 64 /                                    128  422,090 on 1 x 28 x 28
``cnn8``  64 64 / 128 128 / 196 196 /                  256  1,639,794 on 3 x 32 x 32
========  ===========================================  ===  =============================================

All convolutions are 3 x 3, padded, with bias. After the last pooling the map is flattened, and
Linear, BatchNorm1d and ReLU make the feature. The names count the layers with weights, the head
included. Other image sizes change the length of the flattened map only.

References:
    Ma et al., 2020. Normalized Loss Functions for Deep Learning with Noisy Labels. ICML
    (the networks of its experiments on MNIST and CIFAR-10).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import accumulate, pairwise

import torch
from torch import Tensor, nn

from anchored.backbones._base import Backbone, check_image
from anchored.backbones._initialise import NOISY_LABELS, build

__all__ = ["ConvNet", "cnn4", "cnn8"]


class ConvNet(Backbone):
    """Blocks of convolution units, each block followed by a 2 x 2 max-pool, then one linear unit.

    The builders below fill it from a generator; if made directly, it is initialised by torch.

    Args:
        input_shape: ``(channels, height, width)``; at least 2 x 2 pixels must be left after the pooling.
        blocks: The widths of the convolutions, block by block.
        hidden: Length of the features.
        last_relu: Whether the features pass a last ReLU.
        name: How error messages call this network.

    Shape:
        inputs ``(n, channels, height, width)``; out ``(n, hidden)``.

    Example:
        >>> net = ConvNet((1, 8, 8), blocks=((4,),), hidden=5)
        >>> net(torch.zeros(2, 1, 8, 8)).shape
        torch.Size([2, 5])
    """

    def __init__(
        self,
        input_shape: Iterable[int],
        *,
        blocks: tuple[tuple[int, ...], ...],
        hidden: int,
        last_relu: bool = True,
        name: str = "ConvNet",
    ) -> None:
        halvings = 2 ** len(blocks)
        channels, height, width = check_image(name, input_shape, smallest=2 * halvings)
        super().__init__((channels, height, width), feature_dim=hidden, signed_features=not last_relu)
        layers: list[nn.Module] = []
        for block in blocks:
            for out_channels in block:
                layers += [
                    nn.Conv2d(channels, out_channels, 3, padding=1),
                    nn.BatchNorm2d(out_channels),
                    nn.ReLU(inplace=True),
                ]
                channels = out_channels
            # The largest of four values is cut at zero, not four values of which the largest is taken: the same maps
            # and the same gradients, from a quarter of the work.
            layers.insert(-1, nn.MaxPool2d(2))
        self.convolutions = nn.Sequential(*layers)
        self.block_ends = list(accumulate(3 * len(block) + 1 for block in blocks))
        self.maps = channels, height // halvings, width // halvings
        self.fc1 = nn.Linear(math.prod(self.maps), hidden)
        self.bn1 = nn.BatchNorm1d(hidden)
        self.last = nn.ReLU(inplace=True) if last_relu else nn.Identity()

    @property
    def map_shape(self) -> tuple[int, int, int]:
        """Channels, height and width after the last pooling."""
        return self.maps

    def blocks(self) -> list[nn.Sequential]:
        """Return the convolutions block by block, each with the pooling at its end."""
        layers = list(self.convolutions)
        return [nn.Sequential(*layers[start:end]) for start, end in pairwise([0, *self.block_ends])]

    def feature_map(self, inputs: Tensor) -> Tensor:
        """Return maps ``(n, *map_shape)`` after the last pooling."""
        maps: Tensor = self.convolutions(inputs)
        return maps

    def pooled(self, maps: Tensor) -> Tensor:
        """Return features ``(n, hidden)``: the linear unit on the flattened maps."""
        features: Tensor = self.last(self.bn1(self.fc1(maps.flatten(1))))
        return features

    def forward(self, inputs: Tensor) -> Tensor:
        """Return features ``(n, hidden)``."""
        return self.pooled(self.feature_map(inputs))


def cnn4(input_shape: Iterable[int], *, last_relu: bool = True, generator: torch.Generator | None = None) -> ConvNet:
    """Build the four-layer network for MNIST.

    Args:
        input_shape: ``(channels, height, width)``, at least 8 x 8 pixels.
        last_relu: Whether the features pass a last ReLU.
        generator: Source of the weights; None means seed 0.

    Returns:
        A network with 128 features.

    Example:
        >>> sum(p.numel() for p in cnn4((1, 28, 28)).parameters()) + 128 * 10 + 10
        422090
    """
    return _convnet("cnn4", input_shape, ((32,), (64,)), 128, last_relu, generator)


def cnn8(input_shape: Iterable[int], *, last_relu: bool = True, generator: torch.Generator | None = None) -> ConvNet:
    """Build the eight-layer network for CIFAR-10; its third block has 196 channels, as published.

    Args:
        input_shape: ``(channels, height, width)``, at least 16 x 16 pixels.
        last_relu: Whether the features pass a last ReLU.
        generator: Source of the weights; None means seed 0.

    Returns:
        A network with 256 features.

    Example:
        >>> sum(p.numel() for p in cnn8((3, 32, 32)).parameters()) + 256 * 10 + 10
        1639794
    """
    return _convnet("cnn8", input_shape, ((64, 64), (128, 128), (196, 196)), 256, last_relu, generator)


def _convnet(
    name: str,
    input_shape: Iterable[int],
    blocks: tuple[tuple[int, ...], ...],
    hidden: int,
    last_relu: bool,
    generator: torch.Generator | None,
) -> ConvNet:
    return build(
        lambda: ConvNet(input_shape, blocks=blocks, hidden=hidden, last_relu=last_relu, name=name),
        NOISY_LABELS,
        generator,
    )

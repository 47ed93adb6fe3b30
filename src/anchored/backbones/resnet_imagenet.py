"""Residual networks for photographs of about 224 pixels: a 7 x 7 stem with stride 2 and a max-pool.

=============  ==================  ================  ======================  ====  ==========
name           block               blocks per stage  widths                  d     parameters
=============  ==================  ================  ======================  ====  ==========
``resnet10``   basic               1, 1, 1, 1        64, 128, 256, 512       512   4,905,792
``resnet50``   bottleneck          3, 4, 6, 3        256, 512, 1024, 2048    2048  23,508,032
``resnext50``  bottleneck, 32 x 4  3, 4, 6, 3        256, 512, 1024, 2048    2048  22,979,904
=============  ==================  ================  ======================  ====  ==========

Convolutions are drawn as torchvision draws them. ``zero_init_residual=True`` starts every block as
its shortcut.

References:
    torchvision's ``resnet50`` and ``resnext50_32x4d``.
    Liu et al., 2019. Large-Scale Long-Tailed Recognition in an Open World. CVPR (``resnet10``).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import torch

from anchored.backbones._initialise import IMAGENET, build
from anchored.backbones.resnet import BasicBlock, Block, Bottleneck, ResNet, zero_last_norm_

__all__ = ["resnet10", "resnet50", "resnext50"]

SMALLEST = 32  # the network halves the image five times


def resnet10(
    input_shape: Iterable[int],
    *,
    last_relu: bool = True,
    generator: torch.Generator | None = None,
    zero_init_residual: bool = False,
) -> ResNet:
    """Build a ResNet with one basic block per stage.

    Args:
        input_shape: ``(channels, height, width)``, at least 32 x 32 pixels.
        last_relu: Whether the maps pass a last ReLU before the mean.
        generator: Source of the weights; None means seed 0.
        zero_init_residual: Whether every block starts as its shortcut.

    Returns:
        A network with 512 features.

    Example:
        >>> resnet10((3, 64, 64)).feature_dim
        512
    """
    return _resnet("resnet10", input_shape, BasicBlock, (1, 1, 1, 1), 64, last_relu, generator, zero_init_residual)


def resnet50(
    input_shape: Iterable[int],
    *,
    last_relu: bool = True,
    generator: torch.Generator | None = None,
    zero_init_residual: bool = False,
) -> ResNet:
    """Build a ResNet-50: bottleneck blocks, the stride in the 3 x 3 convolution.

    Args:
        input_shape: ``(channels, height, width)``, at least 32 x 32 pixels.
        last_relu: Whether the maps pass a last ReLU before the mean.
        generator: Source of the weights; None means seed 0.
        zero_init_residual: Whether every block starts as its shortcut.

    Returns:
        A network with 2048 features.

    Example:
        >>> with torch.device("meta"):                  # count without drawing
        ...     net = resnet50((3, 224, 224))
        >>> sum(p.numel() for p in net.parameters())
        23508032
    """
    return _resnet("resnet50", input_shape, Bottleneck, (3, 4, 6, 3), 256, last_relu, generator, zero_init_residual)


def resnext50(
    input_shape: Iterable[int],
    *,
    last_relu: bool = True,
    generator: torch.Generator | None = None,
    zero_init_residual: bool = False,
) -> ResNet:
    """Build a ResNeXt-50: ResNet-50 with 32 groups of 4 channels.

    Args:
        input_shape: ``(channels, height, width)``, at least 32 x 32 pixels.
        last_relu: Whether the maps pass a last ReLU before the mean.
        generator: Source of the weights; None means seed 0.
        zero_init_residual: Whether every block starts as its shortcut.

    Returns:
        A network with 2048 features.

    Example:
        >>> with torch.device("meta"):                  # count without drawing
        ...     net = resnext50((3, 224, 224))
        >>> sum(p.numel() for p in net.parameters())
        22979904
    """
    block = partial(Bottleneck, groups=32, base_width=4)
    return _resnet("resnext50", input_shape, block, (3, 4, 6, 3), 256, last_relu, generator, zero_init_residual)


def _resnet(
    name: str,
    input_shape: Iterable[int],
    block: Block,
    depths: tuple[int, ...],
    first_width: int,
    last_relu: bool,
    generator: torch.Generator | None,
    zero_init_residual: bool,
) -> ResNet:
    net = build(
        lambda: ResNet(
            input_shape,
            block=block,
            depths=depths,
            widths=tuple(first_width * 2**i for i in range(4)),
            stem="large",
            stem_width=64,
            last_relu=last_relu,
            smallest=SMALLEST,
            name=name,
        ),
        IMAGENET,
        generator,
    )
    if zero_init_residual:
        zero_last_norm_(net)
    return net

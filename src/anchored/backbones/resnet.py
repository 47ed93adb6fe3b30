r"""Residual networks: a stem, stages of blocks :math:`\operatorname{relu}(x' + F(x))`, and the mean over all pixels.

:math:`x'` is :math:`x` if the shapes agree. If they do not, it is a 1 x 1 convolution with
BatchNorm (``projection``), or every second pixel with zero channels added on both sides, which has
no parameters (``pad``, "option A"). The last operation before the mean is a ReLU, so features are
non-negative unless ``last_relu=False`` drops that one.

Layers have torchvision's names (``conv1``, ``bn1``, ``layer1`` …, ``downsample``), so weights for
its ``resnet50`` and ``resnext50_32x4d`` can be loaded once ``fc.*`` is left out.

References:
    He et al., 2016. Deep Residual Learning for Image Recognition. CVPR.
    Xie et al., 2017. Aggregated Residual Transformations for Deep Neural Networks. CVPR.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

import torch.nn.functional as F
from torch import Tensor, nn

from anchored.backbones._base import Backbone, check_image

__all__ = ["BasicBlock", "Bottleneck", "PadShortcut", "ResNet", "stage", "zero_last_norm_"]

Block = Callable[..., nn.Module]


class PadShortcut(nn.Module):
    """A shortcut without parameters: every ``stride``-th pixel, with zero channels added before and after.

    Example:
        >>> import torch
        >>> PadShortcut(2, 4, stride=2)(torch.ones(1, 2, 4, 4)).sum(dim=(0, 2, 3))
        tensor([0., 4., 4., 0.])
    """

    def __init__(self, in_channels: int, out_channels: int, *, stride: int) -> None:
        super().__init__()
        self.stride = stride
        self.before = (out_channels - in_channels) // 2
        self.after = out_channels - in_channels - self.before

    def forward(self, maps: Tensor) -> Tensor:
        """Return maps ``(n, out_channels, ceil(h / stride), ceil(w / stride))``."""
        return F.pad(maps[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, self.before, self.after))


class BasicBlock(nn.Module):
    """Two 3 x 3 convolutions beside a shortcut: ``relu(x' + F(x))``.

    Args:
        in_channels: Width of the incoming maps.
        out_channels: Width of the outgoing maps.
        stride: 2 halves the maps, 1 keeps their size.
        shortcut: How the incoming maps are brought to shape: ``"projection"`` by a 1 x 1 convolution, ``"pad"`` by
            every second pixel and zero channels.
        last_relu: Whether the sum passes a ReLU.

    Example:
        >>> import torch
        >>> BasicBlock(4, 8, 2)(torch.zeros(1, 4, 6, 6)).shape
        torch.Size([1, 8, 3, 3])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        stride: int = 1,
        *,
        shortcut: Literal["projection", "pad"] = "projection",
        last_relu: bool = True,
    ) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, out_channels, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(out_channels)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(out_channels, out_channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(out_channels)
        self.downsample = _shortcut(shortcut, in_channels, out_channels, stride)
        self.last = nn.ReLU(inplace=True) if last_relu else nn.Identity()

    def forward(self, maps: Tensor) -> Tensor:
        """Return maps ``(n, out_channels, h / stride, w / stride)``."""
        residual = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(maps)))))
        out: Tensor = self.last(residual + self.downsample(maps))
        return out


class Bottleneck(nn.Module):
    """1 x 1, 3 x 3 and 1 x 1 convolutions beside a projection shortcut; the inner width is a quarter of the outer.

    Args:
        in_channels: Width of the incoming maps.
        out_channels: Width of the outgoing maps.
        stride: 2 halves the maps, in the 3 x 3 convolution.
        groups: Groups of the 3 x 3 convolution; with ``base_width=4``, 32 of them make a ResNeXt block.
        base_width: Inner channels per group at an outer width of 256.
        last_relu: Whether the sum passes a ReLU.

    Example:
        >>> import torch
        >>> Bottleneck(8, 16, 2)(torch.zeros(1, 8, 6, 6)).shape
        torch.Size([1, 16, 3, 3])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        stride: int = 1,
        *,
        groups: int = 1,
        base_width: int = 64,
        last_relu: bool = True,
    ) -> None:
        super().__init__()
        inner = out_channels // 4 * base_width // 64 * groups
        self.conv1 = nn.Conv2d(in_channels, inner, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(inner)
        self.conv2 = nn.Conv2d(inner, inner, 3, stride=stride, padding=1, groups=groups, bias=False)
        self.bn2 = nn.BatchNorm2d(inner)
        self.conv3 = nn.Conv2d(inner, out_channels, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(out_channels)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = _shortcut("projection", in_channels, out_channels, stride)
        self.last = nn.ReLU(inplace=True) if last_relu else nn.Identity()

    def forward(self, maps: Tensor) -> Tensor:
        """Return maps ``(n, out_channels, h / stride, w / stride)``."""
        inner = self.relu(self.bn2(self.conv2(self.relu(self.bn1(self.conv1(maps))))))
        out: Tensor = self.last(self.bn3(self.conv3(inner)) + self.downsample(maps))
        return out


def stage(
    block: Block, in_channels: int, out_channels: int, *, depth: int, stride: int, last_relu: bool = True
) -> nn.Sequential:
    """Build ``depth`` blocks in a row.

    Args:
        block: Makes a block from ``(in_channels, out_channels, stride, last_relu=...)``.
        in_channels: Width of the incoming maps.
        out_channels: Width of the outgoing maps.
        depth: Number of blocks.
        stride: Stride of the first block; the others have stride 1.
        last_relu: Whether the last block ends in a ReLU; the others always do.

    Returns:
        The blocks, to be run one after the other.

    Example:
        >>> len(stage(BasicBlock, 4, 8, depth=3, stride=2))
        3
    """
    blocks = [
        block(
            in_channels if position == 0 else out_channels,
            out_channels,
            stride if position == 0 else 1,
            last_relu=last_relu or position < depth - 1,
        )
        for position in range(depth)
    ]
    return nn.Sequential(*blocks)


class ResNet(Backbone):
    """Stem, stages (the first keeps the size of the maps, each further one halves it), mean over the pixels.

    The builders in ``resnet_cifar.py`` and ``resnet_imagenet.py`` fill it from a generator; if made
    directly, it is initialised by torch.

    Args:
        input_shape: ``(channels, height, width)``. Other sizes may be passed later, because the mean takes any.
        block: Makes a block from ``(in_channels, out_channels, stride, last_relu=...)``.
        depths: Number of blocks, stage by stage.
        widths: Outgoing channels, stage by stage; the last is the feature dimension.
        stem: ``"small"``: a 3 x 3 convolution; ``"large"``: 7 x 7 with stride 2 and a max-pool, as for ImageNet.
        stem_width: Channels after the stem.
        last_relu: Whether the maps pass a last ReLU before the mean.
        smallest: The least side of an image that is not refused.
        name: How error messages call this network.

    Shape:
        inputs ``(n, channels, height, width)``; out ``(n, widths[-1])``.

    Example:
        >>> import torch
        >>> net = ResNet((3, 8, 8), block=BasicBlock, depths=(1, 1), widths=(4, 8), stem="small", stem_width=4)
        >>> net.feature_map(torch.zeros(2, 3, 8, 8)).shape
        torch.Size([2, 8, 4, 4])
    """

    def __init__(
        self,
        input_shape: Iterable[int],
        *,
        block: Block,
        depths: tuple[int, ...],
        widths: tuple[int, ...],
        stem: Literal["small", "large"],
        stem_width: int,
        last_relu: bool = True,
        smallest: int = 8,
        name: str = "ResNet",
    ) -> None:
        shape = check_image(name, input_shape, smallest=smallest)
        super().__init__(shape, feature_dim=widths[-1], signed_features=not last_relu)
        if stem == "small":
            self.conv1 = nn.Conv2d(shape[0], stem_width, 3, padding=1, bias=False)
        else:
            self.conv1 = nn.Conv2d(shape[0], stem_width, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(stem_width)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.Identity() if stem == "small" else nn.MaxPool2d(3, stride=2, padding=1)
        self.shrinks = (1 if stem == "small" else 4) * 2 ** (len(depths) - 1)
        self.stage_names = tuple(f"layer{i + 1}" for i in range(len(depths)))
        in_channels = stem_width
        for i, (name_of_stage, depth, width) in enumerate(zip(self.stage_names, depths, widths, strict=True)):
            relu_after = last_relu or i < len(depths) - 1
            built = stage(block, in_channels, width, depth=depth, stride=1 if i == 0 else 2, last_relu=relu_after)
            self.add_module(name_of_stage, built)
            in_channels = width

    @property
    def map_shape(self) -> tuple[int, int, int]:
        """Features, height and width before the mean, for images of ``input_shape``; each halving rounds up."""
        _, height, width = self.input_shape
        return self.feature_dim, -(-height // self.shrinks), -(-width // self.shrinks)

    def feature_map(self, inputs: Tensor) -> Tensor:
        """Return maps ``(n, d, h, w)`` before the mean, for heads that attend to pixels."""
        maps: Tensor = self.maxpool(self.relu(self.bn1(self.conv1(inputs))))
        for name in self.stage_names:
            maps = self.get_submodule(name)(maps)
        return maps

    def forward(self, inputs: Tensor) -> Tensor:
        """Return features ``(n, d)``."""
        return self.pooled(self.feature_map(inputs))


def _shortcut(kind: Literal["projection", "pad"], in_channels: int, out_channels: int, stride: int) -> nn.Module:
    if stride == 1 and in_channels == out_channels:
        return nn.Identity()
    if kind == "pad":
        return PadShortcut(in_channels, out_channels, stride=stride)
    convolution = nn.Conv2d(in_channels, out_channels, 1, stride=stride, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(out_channels))


def zero_last_norm_(net: nn.Module) -> None:
    """Set the scale of the last BatchNorm of each residual branch to 0: every block starts as its shortcut."""
    for block in net.modules():
        if isinstance(block, BasicBlock):
            nn.init.zeros_(block.bn2.weight)
        elif isinstance(block, Bottleneck):
            nn.init.zeros_(block.bn3.weight)

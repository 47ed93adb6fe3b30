"""Residual networks for images of about 32 pixels: a 3 x 3 stem, no pooling before the mean.

============  =====================  ================  ===========  ====  ===================================
name          blocks per stage       widths            shortcut     d     parameters (with k = 100 head)
============  =====================  ================  ===========  ====  ===================================
``resnet32``  5, 5, 5                16, 32, 64        pad          64    463,504 (470,004)
``resnet34``  3, 4, 6, 3             64, 128, 256, 512 projection   512   21,276,992 (21,328,292)
============  =====================  ================  ===========  ====  ===================================

References:
    Cao et al., 2019. Learning Imbalanced Datasets with Label-Distribution-Aware Margin Loss. NeurIPS (``resnet32``).
    Ma et al., 2020. Normalized Loss Functions for Deep Learning with Noisy Labels. ICML (``resnet34``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import torch

from anchored._checks import check_integer
from anchored._errors import InputError
from anchored.backbones._initialise import LONG_TAIL, NOISY_LABELS, build
from anchored.backbones.resnet import BasicBlock, ResNet

__all__ = ["resnet32", "resnet34"]


def resnet32(
    input_shape: Iterable[int],
    *,
    last_relu: bool = True,
    generator: torch.Generator | None = None,
    widths: Sequence[int] = (16, 32, 64),
) -> ResNet:
    """Build the network of the long-tailed CIFAR experiments, with shortcuts that have no parameters.

    Its experts in TADE have ``widths=(16, 24, 48)``; with dot regression on 100 classes it has ``(32, 64, 128)``.

    Args:
        input_shape: ``(channels, height, width)``, at least 8 x 8 pixels.
        last_relu: Whether the maps pass a last ReLU before the mean.
        generator: Source of the weights; None means seed 0.
        widths: Channels of the three stages; they must not fall.

    Returns:
        A network with ``widths[-1]`` features.

    Example:
        >>> sum(p.numel() for p in resnet32((3, 32, 32)).parameters())
        463504
        >>> resnet32((3, 32, 32), widths=(16, 24, 48)).feature_dim
        48
    """
    channels = _check_widths(widths)
    return build(
        lambda: ResNet(
            input_shape,
            block=partial(BasicBlock, shortcut="pad"),
            depths=(5, 5, 5),
            widths=channels,
            stem="small",
            stem_width=channels[0],
            last_relu=last_relu,
            name="resnet32",
        ),
        LONG_TAIL,
        generator,
    )


def resnet34(input_shape: Iterable[int], *, last_relu: bool = True, generator: torch.Generator | None = None) -> ResNet:
    """Build the network of the noisy CIFAR-100 experiments.

    Args:
        input_shape: ``(channels, height, width)``, at least 8 x 8 pixels.
        last_relu: Whether the maps pass a last ReLU before the mean.
        generator: Source of the weights; None means seed 0.

    Returns:
        A network with 512 features.

    Example:
        >>> with torch.device("meta"):                  # count without drawing 21 million weights
        ...     net = resnet34((3, 32, 32))
        >>> sum(p.numel() for p in net.parameters()) + 512 * 100 + 100
        21328292
    """
    return build(
        lambda: ResNet(
            input_shape,
            block=BasicBlock,
            depths=(3, 4, 6, 3),
            widths=(64, 128, 256, 512),
            stem="small",
            stem_width=64,
            last_relu=last_relu,
            name="resnet34",
        ),
        NOISY_LABELS,
        generator,
    )


def _check_widths(widths: object) -> tuple[int, int, int]:
    if isinstance(widths, Sequence) and not isinstance(widths, str) and len(widths) == 3:
        first, second, third = (check_integer("every entry of widths", width, low=1) for width in widths)
        if first <= second <= third:  # a shortcut that pads can only widen
            return first, second, third
    raise InputError(f"widths must be three numbers that do not fall, got {widths!r}; write (16, 32, 64)")

"""The choice of a backbone by the shape of the input: the cheapest usual one whose features leave room for the classes.

========================================  ===================================================
input                                     backbone
========================================  ===================================================
``(d,)``                                  ``mlp``
image, 32 pixels or more, one side > 64   ``resnet10`` if k <= 513, else ``resnet50``
image with a side under 8 or over 64      ``tiny``
image with a side under 16 pixels         ``cnn4``
grey image                                ``cnn4`` if k <= 129, else as the next line
colour image                              ``cnn8`` if k <= 257, else ``resnet34``
========================================  ===================================================

The first line that fits counts. Each limit on k is d + 1 of the network beside it: up to there
prototypes at equal angles exist. For 32-pixel images of many classes the paper's ``resnet34`` is
more accurate than ``cnn8`` but takes about nine times the operations; ``auto`` stays with what a
machine without a GPU can train. On the 8-pixel digits of scikit-learn ``cnn4`` reaches 99 %.
"""

from __future__ import annotations

from collections.abc import Iterable

from anchored._checks import check_integer
from anchored.backbones._base import check_shape

__all__ = ["auto"]


def auto(input_shape: Iterable[int], num_classes: int | None = None) -> str:
    """Return the name of the backbone for inputs of this shape.

    Args:
        input_shape: ``(d,)`` or ``(channels, height, width)``.
        num_classes: Number k of classes; None stands for a few.

    Example:
        >>> auto((1, 28, 28)), auto((3, 32, 32)), auto((1, 8, 8)), auto((54,))
        ('cnn4', 'cnn8', 'cnn4', 'mlp')
    """
    shape = check_shape(input_shape)
    k = 2 if num_classes is None else check_integer("num_classes", num_classes, low=1)
    if len(shape) == 1:
        return "mlp"
    channels, height, width = shape
    if max(height, width) > 64 and min(height, width) >= 32:
        return "resnet10" if k <= 513 else "resnet50"
    if min(height, width) < 8 or max(height, width) > 64:
        return "tiny"
    if min(height, width) < 16 or (channels == 1 and k <= 129):
        return "cnn4"
    return "cnn8" if k <= 257 else "resnet34"

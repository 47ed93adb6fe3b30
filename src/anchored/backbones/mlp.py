"""A multi-layer perceptron for vectors: linear layers and ReLUs, with BatchNorm between them on request.

BatchNorm is off by default: a table is standardised before it gets here, small tables leave
batches of one row, and per-sample weights mean the same with and without repeated rows.

References:
    None; the paper trains on images only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

from anchored._checks import check_integer
from anchored._errors import InputError
from anchored.backbones._base import Backbone, check_shape
from anchored.backbones._initialise import PLAIN, build

__all__ = ["MLP", "check_widths", "mlp"]


class MLP(Backbone):
    """Linear, optional BatchNorm and ReLU, once per entry of ``hidden``; images are flattened first.

    :func:`mlp` fills it from a generator; if made directly, it is initialised by torch.

    Args:
        input_shape: ``(d,)``, or any image shape.
        hidden: Widths of the layers; the last is the feature dimension.
        batch_norm: Whether there is a BatchNorm before each ReLU.
        last_relu: Whether the features pass a last ReLU.

    Shape:
        inputs ``(n, *input_shape)``; out ``(n, hidden[-1])``.

    Example:
        >>> MLP((64,), hidden=(32, 16))(torch.zeros(2, 64)).shape
        torch.Size([2, 16])
    """

    def __init__(
        self,
        input_shape: Iterable[int],
        *,
        hidden: Sequence[int] = (256, 128),
        batch_norm: bool = False,
        last_relu: bool = True,
    ) -> None:
        shape = check_shape(input_shape)
        widths = check_widths(hidden)
        super().__init__(shape, feature_dim=widths[-1], signed_features=not last_relu)
        layers: list[nn.Module] = [nn.Flatten()]
        for in_features, width in zip([math.prod(shape), *widths], widths, strict=False):
            layers.append(nn.Linear(in_features, width))
            if batch_norm:
                layers.append(nn.BatchNorm1d(width))
            layers.append(nn.ReLU(inplace=True))
        self.layers = nn.Sequential(*(layers if last_relu else layers[:-1]))

    def forward(self, inputs: Tensor) -> Tensor:
        """Return features ``(n, hidden[-1])``."""
        features: Tensor = self.layers(inputs)
        return features


def check_widths(hidden: object) -> list[int]:
    """Return ``hidden`` as a list of widths; refuse anything else.

    Example:
        >>> check_widths((256, 128))
        [256, 128]
    """
    if isinstance(hidden, str) or not isinstance(hidden, Sequence) or not hidden:
        raise InputError(f"hidden must list at least one width, got {hidden!r}; write (256, 128)")
    return [check_integer("every entry of hidden", width, low=1) for width in hidden]


def mlp(
    input_shape: Iterable[int],
    *,
    last_relu: bool = True,
    generator: torch.Generator | None = None,
    hidden: Sequence[int] = (256, 128),
    batch_norm: bool = False,
) -> MLP:
    """Build an :class:`MLP` with weights from a generator.

    Args:
        input_shape: ``(d,)``, or any image shape.
        last_relu: Whether the features pass a last ReLU.
        generator: Source of the weights; None means seed 0.
        hidden: Widths of the layers; the last is the feature dimension.
        batch_norm: Whether there is a BatchNorm before each ReLU.

    Returns:
        A network with ``hidden[-1]`` features.

    Example:
        >>> mlp((64,)).feature_dim
        128
    """
    return build(lambda: MLP(input_shape, hidden=hidden, batch_norm=batch_norm, last_relu=last_relu), PLAIN, generator)

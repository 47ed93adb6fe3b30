"""The base of all backbones: a map from inputs to features ``(n, d)`` that declares ``d`` and their sign."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor, nn

from anchored._checks import check_integer
from anchored._errors import InputError

__all__ = ["Backbone", "check_image", "check_shape"]


class Backbone(nn.Module):
    """A network that maps inputs ``(n, *input_shape)`` to features ``(n, feature_dim)``.

    Features are ``pooled(feature_map(inputs))``, for methods that use the pixels in between. A backbone without maps
    has one of a single pixel, the features themselves.

    Attributes:
        input_shape: Shape of one input: ``(d,)`` for vectors, ``(channels, height, width)`` for images.
        feature_dim: Length of the features.
        signed_features: Whether features can be negative; False after a last ReLU. A head needs
            to know, because ReLU features cannot reach the negative coordinates of a prototype.

    Example:
        >>> from anchored import backbones
        >>> net = backbones.get("cnn4", (1, 28, 28))
        >>> net.feature_dim, net.signed_features
        (128, False)
    """

    input_shape: tuple[int, ...]
    feature_dim: int
    signed_features: bool

    def __init__(self, input_shape: tuple[int, ...], *, feature_dim: int, signed_features: bool) -> None:
        super().__init__()
        self.input_shape = input_shape
        self.feature_dim = feature_dim
        self.signed_features = signed_features

    def forward(self, inputs: Tensor) -> Tensor:
        """Return features ``(n, d)`` of inputs ``(n, *input_shape)``."""
        raise NotImplementedError(f"{type(self).__name__} must define forward")

    @property
    def map_shape(self) -> tuple[int, int, int]:
        """The shape ``(c, h, w)`` that :meth:`feature_map` returns for one input."""
        return self.feature_dim, 1, 1

    def feature_map(self, inputs: Tensor) -> Tensor:
        """Return maps ``(n, *map_shape)`` as they are before pooling."""
        features: Tensor = self(inputs)
        return features[:, :, None, None]

    def pooled(self, maps: Tensor) -> Tensor:
        """Return features ``(n, d)`` of maps ``(n, *map_shape)``."""
        return maps.mean(dim=(2, 3))

    def extra_repr(self) -> str:
        """Return what ``print(net)`` shows beside the layers."""
        return f"{self.input_shape} -> {self.feature_dim}, signed_features={self.signed_features}"


def check_shape(input_shape: object) -> tuple[int, ...]:
    """Return ``input_shape`` as ``(d,)`` or ``(channels, height, width)``; refuse anything else.

    Example:
        >>> check_shape([1, 28, 28])
        (1, 28, 28)
    """
    if isinstance(input_shape, str) or not isinstance(input_shape, Iterable):
        raise InputError(
            f"input_shape must be (d,) or (channels, height, width), got {input_shape!r}; "
            "write (d,) with its comma for vectors"
        )
    shape = tuple(check_integer("every entry of input_shape", size, low=1) for size in input_shape)
    if len(shape) == 2:
        raise InputError(
            f"input_shape must be (d,) or (channels, height, width), got {shape}; write (1, {shape[0]}, {shape[1]}) "
            "for grey images"
        )
    if len(shape) not in (1, 3):
        raise InputError(
            f"input_shape must be (d,) or (channels, height, width), got {shape}; leave out the batch dimension"
        )
    return shape


def check_image(name: str, input_shape: Iterable[int], *, smallest: int) -> tuple[int, int, int]:
    """Return ``input_shape`` as an image whose sides are at least ``smallest`` pixels.

    Args:
        name: How the error message calls the backbone.
        input_shape: The shape as given.
        smallest: Least number of pixels of a side.

    Returns:
        Channels, height and width.

    Raises:
        InputError: If it is a vector, or too small.

    Example:
        >>> check_image("cnn4", (1, 28, 28), smallest=8)
        (1, 28, 28)
    """
    shape = check_shape(input_shape)
    if len(shape) != 3:
        raise InputError(f"backbone {name!r} takes images (channels, height, width), got vectors {shape}; use 'mlp'")
    channels, height, width = shape
    if min(height, width) < smallest:
        raise InputError(
            f"backbone {name!r} needs images of at least {smallest} x {smallest} pixels, got {height} x {width}; "
            "use 'auto' or enlarge the images"
        )
    return channels, height, width

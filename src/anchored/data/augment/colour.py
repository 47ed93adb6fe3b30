r"""Colour jitter: brightness, contrast, saturation and hue, each by its own amount, in an order drawn per image.

.. math::  \text{brightness: } fx, \qquad
           \text{contrast: } fx + (1-f)\,\bar g, \qquad
           \text{saturation: } fx + (1-f)\,g, \qquad
           \text{hue: } H \mapsto H + \delta \bmod 1,

with the grey image :math:`g = 0.299 R + 0.587 G + 0.114 B`, its mean :math:`\bar g`, a factor f uniform in
``[max(0, 1 - a), 1 + a]`` and a shift :math:`\delta` uniform in ``[-a, a]``. Values stay in 0..255 (bytes) or
0..1 (floats).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations

import torch
from torch import Tensor

from anchored._checks import check_real
from anchored._errors import InputError
from anchored.data.augment._base import check_images

__all__ = ["ColourJitter"]

_ORDERS = torch.tensor(list(permutations(range(4))))  # (24, 4)


@dataclass(frozen=True)
class ColourJitter:
    """Random brightness, contrast, saturation and hue.

    Example:
        >>> bright = ColourJitter(brightness=0.5)(torch.full((1, 3, 1, 1), 100, dtype=torch.uint8), torch.ones(1, 5))
        >>> bright.flatten()
        tensor([150, 150, 150], dtype=torch.uint8)
    """

    brightness: float = 0.0
    """Largest relative change."""
    contrast: float = 0.0
    """Largest relative change."""
    saturation: float = 0.0
    """Largest relative change."""
    hue: float = 0.0
    """Largest shift as a share of the colour circle, at most 0.5."""

    def __post_init__(self) -> None:
        for name in ("brightness", "contrast", "saturation"):
            check_real(name, getattr(self, name), low=0)
        check_real("hue", self.hue, low=0, high=0.5)

    @property
    def draws(self) -> int:
        """Numbers per image, five: for the order, and for the amount of each change."""
        return 5

    def __call__(self, images: Tensor, uniforms: Tensor) -> Tensor:
        """Change images ``(b, c, h, w)`` of three channels, or of one (brightness and contrast only)."""
        check_images(images, uniforms, self.draws)
        if images.shape[1] not in (1, 3):
            raise InputError(f"colour jitter works on 1 or 3 channels, got {images.shape[1]}; leave it out")
        integral = not images.dtype.is_floating_point
        top = 255.0 if integral else 1.0
        # Clamping to [0, 1] and back would cost precision for nothing: all four work on values in 0..top.
        values = images.to(torch.float32) if integral else images.clone()
        order = _ORDERS.to(images.device)[(uniforms[:, 0] * 24).to(torch.int64).clamp(max=23)]  # (b, 4)
        for place in range(4):
            for number, (name, change) in enumerate(_CHANGES):
                amount = getattr(self, name)
                rows = (order[:, place] == number).nonzero()[:, 0]
                if amount == 0 or len(rows) == 0 or (values.shape[1] == 1 and number >= 2):
                    continue
                u = uniforms[rows, number + 1].to(values.dtype)[:, None, None, None]
                low = -amount if name == "hue" else max(0.0, 1 - amount)
                high = amount if name == "hue" else 1 + amount
                values[rows] = change(values[rows], low + u * (high - low), top).clamp_(0, top)
        return values.round_().to(images.dtype) if integral else values


def _grey(x: Tensor) -> Tensor:
    if x.shape[1] == 1:
        return x
    return 0.299 * x[:, 0:1] + 0.587 * x[:, 1:2] + 0.114 * x[:, 2:3]


def _brightness(x: Tensor, factor: Tensor, _top: float) -> Tensor:
    return x * factor


def _contrast(x: Tensor, factor: Tensor, top: float) -> Tensor:
    # A sum of whole numbers does not depend on the order of summation, so neither do the pixels on the batch's size.
    steps = (_grey(x) * (65536 / top)).round().to(torch.int64)
    mean = (steps.sum(dim=(1, 2, 3), keepdim=True).to(torch.float64) / steps[0].numel() * (top / 65536)).to(x.dtype)
    return x * factor + (1 - factor) * mean


def _saturation(x: Tensor, factor: Tensor, _top: float) -> Tensor:
    return x * factor + (1 - factor) * _grey(x)


def _hue(x: Tensor, shift: Tensor, _top: float) -> Tensor:
    largest, smallest = x.amax(dim=1), x.amin(dim=1)
    span = largest - smallest
    safe = torch.where(span == 0, torch.ones_like(span), span)  # grey has no hue: any finite one will do
    r, g, b = x.unbind(dim=1)
    h = torch.where(
        largest == r, ((g - b) / safe) % 6, torch.where(largest == g, (b - r) / safe + 2, (r - g) / safe + 4)
    )
    h = (h / 6 + shift[:, 0]) % 1.0 * 6
    # Each channel is a trapezium in the hue: channel n is max - span * clamp(min(k, 4 - k), 0, 1), k = (n + h) mod 6.
    channels = []
    for n in (5, 3, 1):
        k = (n + h) % 6
        channels.append(largest - span * torch.minimum(k, 4 - k).clamp(0, 1))
    return torch.stack(channels, dim=1)


_CHANGES: tuple[tuple[str, Callable[[Tensor, Tensor, float], Tensor]], ...] = (
    ("brightness", _brightness),
    ("contrast", _contrast),
    ("saturation", _saturation),
    ("hue", _hue),
)

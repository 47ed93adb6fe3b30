r"""Rotation about the centre by an angle uniform in ``[-degrees, degrees]``.

.. math::  \text{source} = c + R(-\theta)\,(\text{target} - c), \qquad c = \left(\tfrac{h-1}{2}, \tfrac{w-1}{2}\right),

each target pixel takes the nearest source pixel (the references' default) or the bilinear mean of four;
what comes from outside the image is black.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from anchored._checks import check_real
from anchored.data.augment._base import check_images

__all__ = ["Rotation"]


@dataclass(frozen=True)
class Rotation:
    """Turn the image, counter-clockwise for a positive angle.

    Example:
        >>> quarter = Rotation(90)(torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), torch.tensor([[1.0]]))
        >>> quarter[0, 0]
        tensor([[2., 4.],
                [1., 3.]])
    """

    degrees: float = 20.0
    """Largest angle, either way."""
    interpolation: Literal["nearest", "bilinear"] = "nearest"
    """Whether a turned pixel is its nearest source pixel or the bilinear mean of four."""

    def __post_init__(self) -> None:
        check_real("degrees", self.degrees, low=0, high=180)

    @property
    def draws(self) -> int:
        """Numbers per image, one: the angle."""
        return 1

    def __call__(self, images: Tensor, uniforms: Tensor) -> Tensor:
        """Turn each of the images ``(b, c, h, w)`` by its own angle."""
        check_images(images, uniforms, self.draws)
        _, _, h, w = images.shape
        angle = ((2 * uniforms[:, 0].to(torch.float64) - 1) * math.radians(self.degrees))[:, None, None]
        y = torch.arange(h, device=images.device, dtype=torch.float64)[:, None] - (h - 1) / 2
        x = torch.arange(w, device=images.device, dtype=torch.float64)[None, :] - (w - 1) / 2
        source_x = angle.cos() * x - angle.sin() * y
        source_y = angle.sin() * x + angle.cos() * y
        # Half-way cases (45 or 90 degrees) must not fall on either side by rounding alone, hence the nudge.
        grid = torch.stack([(2 * source_x + 1e-9) / w, (2 * source_y + 1e-9) / h], dim=3)
        real = images if images.dtype.is_floating_point else images.to(torch.float32)
        out = F.grid_sample(
            real, grid.to(real.dtype), mode=self.interpolation, padding_mode="zeros", align_corners=False
        )
        return out if images.dtype.is_floating_point else out.round_().to(images.dtype)

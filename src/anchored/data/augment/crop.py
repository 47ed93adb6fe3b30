r"""Two crops: a window of the padded image, and a window of random area and shape, resized.

Padded crop: the image gets ``padding`` black pixels on every side, and a window of its own size is cut at one of
:math:`(2p+1)^2` places, all equally likely. This is the "random width and height shift" of the noisy-label papers.

Random resized crop: the window's area is a share of the image's, uniform in ``scale``; the logarithm of its
aspect ratio is uniform in ``ratio``; ten tries, then the largest central window of an allowed shape.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from anchored._checks import check_integer, check_real
from anchored._errors import InputError
from anchored.data.augment._base import check_images

__all__ = ["PaddedCrop", "RandomResizedCrop"]

_TRIES = 10


@dataclass(frozen=True)
class PaddedCrop:
    """Cut a window of the image's own size out of the image with a black border.

    Example:
        >>> corner = PaddedCrop(1)(torch.ones(1, 1, 2, 2), torch.tensor([[0.0, 0.0]]))
        >>> corner[0, 0]
        tensor([[0., 0.],
                [0., 1.]])
    """

    padding: int = 4
    """Width of the border in pixels."""

    def __post_init__(self) -> None:
        check_integer("padding", self.padding, low=0)

    @property
    def draws(self) -> int:
        """Numbers per image, two: for the row and the column of the window."""
        return 2

    def __call__(self, images: Tensor, uniforms: Tensor) -> Tensor:
        """Cut windows ``(b, c, h, w)`` out of images of that shape."""
        check_images(images, uniforms, self.draws)
        b, c, h, w = images.shape
        p = self.padding
        padded = F.pad(images, (p, p, p, p))
        top, left = (uniforms * (2 * p + 1)).to(torch.int64).unbind(dim=1)
        # All windows as one view, no copy: (b, c, 2p+1, 2p+1, h, w); the gather then copies whole windows.
        windows = padded.unfold(2, h, 1).unfold(3, w, 1)
        return windows[torch.arange(b, device=images.device), :, top, left].reshape(b, c, h, w)


@dataclass(frozen=True)
class RandomResizedCrop:
    """Cut a window of random area and shape and resize it (bilinear) to ``size``.

    Applied to files, the window is cut from the original image before anything was resized; applied to a batch,
    from the images in it.

    Example:
        >>> crop = RandomResizedCrop(8)
        >>> crop(torch.zeros(2, 3, 16, 16), torch.full((2, crop.draws), 0.5)).shape
        torch.Size([2, 3, 8, 8])
    """

    size: int
    """Side of the square that comes out."""
    scale: tuple[float, float] = (0.08, 1.0)
    """Smallest and largest share of the image's area."""
    ratio: tuple[float, float] = (3 / 4, 4 / 3)
    """Smallest and largest width / height of the window."""

    def __post_init__(self) -> None:
        check_integer("size", self.size, low=1)
        check_real("scale[1]", self.scale[1], low=0, high=1, closed="right")
        check_real("scale[0]", self.scale[0], low=0, high=self.scale[1], closed="right")
        if not 0 < self.ratio[0] <= self.ratio[1]:
            raise InputError(f"ratio must be two positive numbers, the smaller first, got {self.ratio}")

    @property
    def draws(self) -> int:
        """Numbers per image: area and shape for each of ten tries, then the place."""
        return 2 * _TRIES + 2

    def boxes(self, uniforms: Tensor, height: Tensor, width: Tensor) -> Tensor:
        """Choose the window of each image.

        Args:
            uniforms: ``(b, draws)`` in [0, 1).
            height: Heights ``(b,)`` of the images.
            width: Widths ``(b,)`` of the images.

        Returns:
            Windows ``(b, 4)`` int64 as (top, left, height, width).

        Example:
            >>> crop = RandomResizedCrop(8, scale=(1.0, 1.0), ratio=(1.0, 1.0))       # the whole of a square
            >>> crop.boxes(torch.full((1, crop.draws), 0.5), torch.tensor([32]), torch.tensor([32]))
            tensor([[ 0,  0, 32, 32]])
        """
        height, width = height.to(torch.float64)[:, None], width.to(torch.float64)[:, None]
        area = height * width * (self.scale[0] + uniforms[:, 0 : 2 * _TRIES : 2] * (self.scale[1] - self.scale[0]))
        low, high = math.log(self.ratio[0]), math.log(self.ratio[1])
        shape = torch.exp(low + uniforms[:, 1 : 2 * _TRIES : 2] * (high - low))
        w, h = (area * shape).sqrt().round(), (area / shape).sqrt().round()
        fits = (w >= 1) & (h >= 1) & (w <= width) & (h <= height)
        first = fits.to(torch.int8).argmax(dim=1, keepdim=True)
        w, h = w.gather(1, first), h.gather(1, first)
        top = (uniforms[:, -2:-1] * (height - h + 1)).floor()
        left = (uniforms[:, -1:] * (width - w + 1)).floor()
        central_w = torch.minimum(width, (height * self.ratio[1]).round()).clamp(min=1)
        central_h = torch.minimum(height, (width / self.ratio[0]).round()).clamp(min=1)
        central = [((height - central_h) / 2).floor(), ((width - central_w) / 2).floor(), central_h, central_w]
        found = fits.any(dim=1, keepdim=True)
        return torch.where(found, torch.cat([top, left, h, w], dim=1), torch.cat(central, dim=1)).to(torch.int64)

    def __call__(self, images: Tensor, uniforms: Tensor) -> Tensor:
        """Cut windows out of ``images (b, c, h, w)`` and resize them to ``(b, c, size, size)``."""
        check_images(images, uniforms, self.draws)
        b, _, h, w = images.shape
        sizes = torch.tensor([h, w], device=images.device).expand(b, 2)
        box = self.boxes(uniforms, sizes[:, 0], sizes[:, 1]).to(torch.float64)
        step = (torch.arange(self.size, device=images.device, dtype=torch.float64) + 0.5) / self.size
        # Pixel i covers [i, i+1); the window's own edge pixels are repeated, so nothing from outside leaks in.
        y = (box[:, :1] + step * box[:, 2:3]).clamp(box[:, :1] + 0.5, box[:, :1] + box[:, 2:3] - 0.5)
        x = (box[:, 1:2] + step * box[:, 3:]).clamp(box[:, 1:2] + 0.5, box[:, 1:2] + box[:, 3:] - 0.5)
        grid = torch.stack(
            [
                (2 * x / w - 1)[:, None, :].expand(b, self.size, -1),
                (2 * y / h - 1)[:, :, None].expand(b, -1, self.size),
            ],
            3,
        )
        real = images if images.dtype.is_floating_point else images.to(torch.float32)
        out = F.grid_sample(real, grid.to(real.dtype), mode="bilinear", padding_mode="border", align_corners=False)
        return out if images.dtype.is_floating_point else out.round_().clamp_(0, 255).to(images.dtype)

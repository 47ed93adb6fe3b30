"""Horizontal flip: an image is mirrored left to right with probability p."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from anchored._checks import check_real
from anchored.data.augment._base import check_images

__all__ = ["HorizontalFlip"]


@dataclass(frozen=True)
class HorizontalFlip:
    """Mirror left to right with probability ``p``.

    Example:
        >>> import torch
        >>> HorizontalFlip()(torch.tensor([[[[1, 2]]], [[[1, 2]]]]), torch.tensor([[0.4], [0.6]])).flatten(1)
        tensor([[2, 1],
                [1, 2]])
    """

    p: float = 0.5
    """Probability of a flip."""

    def __post_init__(self) -> None:
        check_real("p", self.p, low=0, high=1)

    @property
    def draws(self) -> int:
        """Numbers per image, one: whether to flip."""
        return 1

    def __call__(self, images: Tensor, uniforms: Tensor) -> Tensor:
        """Mirror those of the images ``(b, c, h, w)`` whose number is below ``p``."""
        check_images(images, uniforms, self.draws)
        rows = (uniforms[:, 0] < self.p).nonzero()[:, 0]
        return images.index_copy(0, rows, images[rows].flip(3))

"""An augmentation is a pure function of a batch and of numbers in [0, 1) that belong to its samples.

It says how many numbers a sample needs (``draws``) and gets them as a row; it never draws itself. So a
sample's pixels are a function of (seed, epoch, index), whatever batch, order or worker it is in.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from torch import Tensor

from anchored._errors import InputError

__all__ = ["Augmentation", "Compose", "check_images"]


@runtime_checkable
class Augmentation(Protocol):
    """A map from a batch of images to another, driven by numbers that belong to the images."""

    @property
    def draws(self) -> int:
        """Numbers in [0, 1) that each sample needs."""
        ...

    def __call__(self, images: Tensor, uniforms: Tensor) -> Tensor:
        """Augment images.

        Args:
            images: ``(b, c, h, w)``, uint8 or float.
            uniforms: ``(b, draws)`` in [0, 1), a row for each image.

        Returns:
            Images of the same type.
        """
        ...


class Compose:
    """Augmentations one after the other, each with its own numbers.

    Example:
        >>> from anchored.data.augment import HorizontalFlip, PaddedCrop
        >>> Compose(PaddedCrop(4), HorizontalFlip()).draws
        3
    """

    def __init__(self, *parts: Augmentation) -> None:
        self.parts = parts

    @property
    def draws(self) -> int:
        """Sum over the parts of the numbers that each needs."""
        return sum(part.draws for part in self.parts)

    def __call__(self, images: Tensor, uniforms: Tensor) -> Tensor:
        """Apply the parts in turn, each with its own columns of ``uniforms``."""
        start = 0
        for part in self.parts:
            images = part(images, uniforms[:, start : start + part.draws])
            start += part.draws
        return images

    def __repr__(self) -> str:
        return f"Compose({', '.join(map(repr, self.parts))})"


def check_images(images: Tensor, uniforms: Tensor, draws: int) -> None:
    """Refuse what is not a batch of images with its numbers.

    Args:
        images: Should be ``(b, c, h, w)``.
        uniforms: Should be ``(b, draws)``.
        draws: Numbers that each image needs.

    Raises:
        InputError: If one of them has another shape.
    """
    if images.ndim != 4:
        raise InputError(f"augmentations work on images (b, c, h, w), got shape {tuple(images.shape)}; switch them off")
    if uniforms.shape != (images.shape[0], draws):
        raise InputError(f"uniforms must be {(images.shape[0], draws)}, got {tuple(uniforms.shape)}")

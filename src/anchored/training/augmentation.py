"""Augmentations by name: ``crop=4``, ``flip``, ``rotate=20``, ``resized-crop=224``, ``jitter=0.4,0.4,0.4,0.2``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anchored._errors import InputError
from anchored._names import choose
from anchored.data import Augmentation, ColourJitter, Compose, HorizontalFlip, PaddedCrop, RandomResizedCrop, Rotation

__all__ = ["AUGMENTATIONS", "make_augmentation"]

AUGMENTATIONS: dict[str, Callable[..., Augmentation]] = {
    "crop": lambda padding: PaddedCrop(int(padding)),
    "flip": HorizontalFlip,
    "rotate": Rotation,
    "resized-crop": lambda size: RandomResizedCrop(int(size)),
    "jitter": ColourJitter,
}
"""Name to what makes it from its numbers."""


def make_augmentation(names: Sequence[str]) -> Augmentation | None:
    """The augmentations called ``names``, one after the other; None for none.

    Example:
        >>> make_augmentation(["crop=4", "flip"])
        Compose(PaddedCrop(padding=4), HorizontalFlip(p=0.5))
        >>> make_augmentation(["crop"])
        Traceback (most recent call last):
        ...
        anchored._errors.InputError: augmentation 'crop' does not take these numbers; write for instance 'crop=4'
    """
    parts = []
    for text in names:
        name, _, values = text.partition("=")
        make = choose(name, AUGMENTATIONS, what="augmentation")
        try:
            parts.append(make(*(float(value) for value in values.split(",") if value)))
        except (TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            example = {"crop": "crop=4", "rotate": "rotate=20", "resized-crop": "resized-crop=224"}.get(name, name)
            raise InputError(
                f"augmentation {text!r} does not take these numbers; write for instance {example!r}"
            ) from None
    return Compose(*parts) if parts else None

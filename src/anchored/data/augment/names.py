"""Augmentations by name: ``crop=4``, ``flip``, ``rotate=20``, ``resized-crop=224``, ``jitter=0.4,0.4,0.4,0.2``.

The numbers after ``=`` are the settings of the augmentation's class, in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anchored._errors import InputError
from anchored._names import choose
from anchored.data.augment._base import Augmentation, Compose
from anchored.data.augment.colour import ColourJitter
from anchored.data.augment.crop import PaddedCrop, RandomResizedCrop
from anchored.data.augment.flip import HorizontalFlip
from anchored.data.augment.rotation import Rotation

__all__ = ["NAMES", "compose", "get"]

NAMES: dict[str, Callable[..., Augmentation]] = {
    "crop": PaddedCrop,
    "flip": HorizontalFlip,
    "rotate": Rotation,
    "resized-crop": RandomResizedCrop,
    "jitter": ColourJitter,
}
"""Name to the class that takes its settings."""
_OF_PIXELS = ("crop", "resized-crop")
_EXAMPLES = {"crop": "crop=4", "rotate": "rotate=20", "resized-crop": "resized-crop=224"}


def get(name: str, **settings: object) -> Augmentation:
    """Make the augmentation called ``name``.

    Args:
        name: One of :data:`NAMES`, perhaps with numbers: ``"crop=4"``.
        settings: Settings by keyword instead of numbers in the name: ``get("crop", padding=4)``.

    Returns:
        The augmentation, a function of images and of random numbers that belong to them.

    Raises:
        InputError: If there is no such augmentation, or it does not take these settings.

    Example:
        >>> get("crop=4") == get("crop", padding=4) == PaddedCrop(padding=4)
        True
        >>> get("crop")
        Traceback (most recent call last):
        ...
        anchored._errors.InputError: augmentation 'crop' does not take these numbers; write for instance 'crop=4'
    """
    kind, _, values = name.partition("=")
    make = choose(kind, NAMES, what="augmentation")
    try:
        numbers: list[float] = [float(value) for value in values.split(",") if value]
        if kind in _OF_PIXELS:
            if not numbers and not settings:
                raise ValueError("a number of pixels fits one size of images, so there is no default")
            numbers = [int(value) if value.is_integer() else value for value in numbers]
        return make(*numbers, **settings)
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        example = _EXAMPLES.get(kind, kind)
        raise InputError(f"augmentation {name!r} does not take these numbers; write for instance {example!r}") from None


def compose(names: Sequence[str]) -> Compose | None:
    """Make the augmentations called ``names``, to be applied one after the other; None if there are none.

    Example:
        >>> compose(["crop=4", "flip"])
        Compose(PaddedCrop(padding=4), HorizontalFlip(p=0.5))
        >>> compose([]) is None
        True
    """
    return Compose(*map(get, names)) if names else None

"""Augmentations of whole batches, in which every random choice belongs to a sample and an epoch."""

from anchored.data.augment._base import Augmentation, Compose
from anchored.data.augment._mixup import Mixed, mixup
from anchored.data.augment.colour import ColourJitter
from anchored.data.augment.crop import PaddedCrop, RandomResizedCrop
from anchored.data.augment.flip import HorizontalFlip
from anchored.data.augment.names import NAMES, compose, get
from anchored.data.augment.rotation import Rotation

__all__ = [
    "NAMES",
    "Augmentation",
    "ColourJitter",
    "Compose",
    "HorizontalFlip",
    "Mixed",
    "PaddedCrop",
    "RandomResizedCrop",
    "Rotation",
    "compose",
    "get",
    "mixup",
]

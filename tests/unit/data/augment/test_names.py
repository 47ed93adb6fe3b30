"""Mirror of src/anchored/data/augment/names.py: names give augmentations, and mistakes give one line."""

import pytest
import torch

from anchored._errors import InputError
from anchored.data import ColourJitter, Compose, HorizontalFlip, PaddedCrop, RandomResizedCrop, Rotation
from anchored.data.augment import NAMES, compose, get


def test_names_give_their_augmentations_in_order():
    made = compose(["crop=2", "flip", "rotate=20", "jitter=0.4,0.4,0.4,0.2"])
    assert isinstance(made, Compose)
    assert isinstance(made.parts[0], PaddedCrop)
    assert isinstance(made.parts[1], HorizontalFlip)
    assert len(made.parts) == 4
    assert made.draws == sum(part.draws for part in made.parts)


def test_no_names_give_none():
    assert compose([]) is None


def test_settings_may_be_given_by_keyword_or_as_numbers():
    assert get("crop", padding=2) == get("crop=2") == PaddedCrop(2)
    assert get("resized-crop=8") == RandomResizedCrop(8)
    assert get("rotate") == Rotation()
    assert get("jitter=0.1,0.2") == get("jitter", brightness=0.1, contrast=0.2) == ColourJitter(0.1, 0.2)
    with pytest.raises(InputError, match="augmentation 'flip' does not take"):
        get("flip", angle=3)


@pytest.mark.parametrize("name", ["crop=1", "flip", "rotate=10", "resized-crop=8", "jitter=0.1,0.1,0.1,0.1"])
def test_each_keeps_the_shape_and_type_of_images(name):
    assert name.partition("=")[0] in NAMES
    made = get(name)
    images = torch.arange(2 * 3 * 64, dtype=torch.uint8).view(2, 3, 8, 8)
    uniforms = torch.rand(2, made.draws, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    out = made(images, uniforms)
    assert out.shape == images.shape
    assert out.dtype == torch.uint8


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["crop"], "augmentation 'crop' does not take these numbers; write for instance 'crop=4'"),
        (["crop=four"], "augmentation 'crop=four' does not take"),
        (["rotate=1,2,3"], "augmentation 'rotate=1,2,3' does not take.*'rotate=20'"),
        (["crop=4.5"], "padding must be"),
        (["crop=4,5"], "augmentation 'crop=4,5' does not take"),
        (["flop"], "unknown augmentation 'flop'; did you mean 'flip'"),
    ],
)
def test_a_mistake_gets_one_line(names, message):
    with pytest.raises(InputError, match=message):
        compose(names)

"""Mirror of src/anchored/data/augment/_base.py: parts in turn, each with its own numbers."""

import pytest
import torch

from anchored._errors import InputError
from anchored.data import Augmentation, Compose, HorizontalFlip, PaddedCrop, Rotation


class Add:
    """Adds its numbers to the image, weighted by their place."""

    def __init__(self, draws):
        self.draws = draws

    def __call__(self, images, uniforms):
        weights = torch.arange(1.0, self.draws + 1)
        return images * 10 + (uniforms * weights).sum(dim=1)[:, None, None, None]


def test_each_part_gets_the_next_numbers_in_order():
    images = torch.zeros(1, 1, 1, 1)
    out = Compose(Add(1), Add(2), Add(1))(images, torch.tensor([[1.0, 2.0, 3.0, 4.0]]))
    assert out.item() == ((1 * 10) + 2 + 2 * 3) * 10 + 4


def test_no_parts_change_nothing():
    images = torch.rand(2, 3, 4, 4)
    assert Compose()(images, torch.empty(2, 0)) is images
    assert Compose().draws == 0


def test_compositions_nest_and_are_augmentations():
    nested = Compose(Compose(PaddedCrop(1), HorizontalFlip()), Rotation(5))
    assert isinstance(nested, Augmentation)
    assert nested.draws == 4
    assert "PaddedCrop(padding=1)" in repr(nested)


@pytest.mark.parametrize("augment", [PaddedCrop(1), HorizontalFlip(), Rotation(5)])
def test_vectors_and_wrong_numbers_are_refused(augment):
    with pytest.raises(InputError, match=r"work on images \(b, c, h, w\), got shape \(4, 7\)"):
        augment(torch.zeros(4, 7), torch.zeros(4, augment.draws))
    with pytest.raises(InputError, match="uniforms must be"):
        augment(torch.zeros(4, 3, 8, 8), torch.zeros(4, augment.draws + 1))

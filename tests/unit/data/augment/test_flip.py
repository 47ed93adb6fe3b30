"""Mirror of src/anchored/data/augment/flip.py: mirrored below p, untouched from p on."""

import pytest
import torch

from anchored._errors import InputError
from anchored.data import HorizontalFlip


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_agrees_with_reversing_each_row(dtype):
    images = torch.arange(2 * 3 * 2 * 3).view(2, 3, 2, 3).to(dtype)
    out = HorizontalFlip(0.5)(images, torch.tensor([[0.49], [0.5]]))
    assert out[0].tolist() == [[row[::-1] for row in channel] for channel in images[0].tolist()]
    assert torch.equal(out[1], images[1])
    assert out.dtype == dtype


@pytest.mark.parametrize(("p", "flipped"), [(0.0, False), (1.0, True)])
def test_the_ends_of_the_probability(p, flipped):
    images = torch.arange(4).view(1, 1, 1, 4)
    out = HorizontalFlip(p)(images, torch.tensor([[0.0 if not flipped else 0.9999]]))
    assert (out.flatten().tolist() == [3, 2, 1, 0]) == flipped


def test_the_argument_is_left_alone():
    images = torch.arange(4).view(1, 1, 1, 4)
    HorizontalFlip(1.0)(images, torch.zeros(1, 1))
    assert images.flatten().tolist() == [0, 1, 2, 3]


def test_refuses_a_probability_outside_the_interval():
    with pytest.raises(InputError, match=r"p must lie in \[0, 1\], got 1.5"):
        HorizontalFlip(1.5)

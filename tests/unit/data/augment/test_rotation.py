"""Mirror of src/anchored/data/augment/rotation.py: right angles exactly, other angles as PIL turns them."""

import numpy as np
import pytest
import torch
from PIL import Image

from anchored._errors import InputError
from anchored.data import Rotation


@pytest.fixture
def images():
    return torch.randint(0, 256, (4, 3, 16, 16), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
def test_right_angles_are_exact(images, interpolation):
    turn = Rotation(90, interpolation)
    assert torch.equal(turn(images, torch.ones(4, 1)), images.rot90(1, (2, 3)))
    assert torch.equal(turn(images, torch.zeros(4, 1)), images.rot90(-1, (2, 3)))
    assert torch.equal(Rotation(180, interpolation)(images, torch.ones(4, 1)), images.flip(2, 3))


def test_no_angle_changes_nothing(images):
    assert torch.equal(Rotation(20)(images, torch.full((4, 1), 0.5)), images)
    assert torch.equal(Rotation(0)(images, torch.full((4, 1), 0.9)), images)


@pytest.mark.parametrize("u", [0.0, 0.2, 0.77, 0.999])
def test_agrees_with_pil_but_for_pixels_on_the_edge_between_two(images, u):
    out = Rotation(20)(images, torch.full((4, 1), u, dtype=torch.float64))
    angle = (2 * u - 1) * 20
    for got, image in zip(out, images, strict=True):
        expected = np.asarray(Image.fromarray(image.permute(1, 2, 0).numpy()).rotate(angle, Image.Resampling.NEAREST))
        assert (got.permute(1, 2, 0).numpy() == expected).mean() > 0.97


def test_corners_become_black():
    white = torch.full((1, 1, 16, 16), 255, dtype=torch.uint8)
    turned = Rotation(45)(white, torch.ones(1, 1))
    assert turned[0, 0, 0, 0] == 0
    assert turned[0, 0, 8, 8] == 255


def test_each_image_has_its_own_angle(images):
    same = images[:1].expand(4, -1, -1, -1)
    out = Rotation(20)(same, torch.tensor([[0.0], [0.5], [0.5], [1.0]]))
    assert torch.equal(out[1], out[2])
    assert not torch.equal(out[0], out[3])


def test_refuses_an_angle_beyond_half_a_turn():
    with pytest.raises(InputError, match="degrees"):
        Rotation(200)

"""Mirror of src/anchored/backbones/_base.py: what a backbone declares, and the shapes that are refused."""

import numpy as np
import pytest
import torch

from anchored import InputError
from anchored.backbones._base import Backbone, check_image, check_shape


def test_a_backbone_says_what_it_is():
    net = Backbone((4,), feature_dim=3, signed_features=True)
    assert repr(net) == "Backbone((4,) -> 3, signed_features=True)"
    with pytest.raises(NotImplementedError, match="Backbone must define forward"):
        net(torch.zeros(1, 4))


@pytest.mark.parametrize("shape", [(4,), [3, 8, 9], torch.Size([1, 2, 2]), np.array([5]), iter((1, 6, 7))])
def test_takes_any_sequence_of_whole_numbers(shape):
    checked = check_shape(shape)
    assert type(checked) is tuple
    assert all(type(size) is int for size in checked)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (64, r"got 64; write \(d,\) with its comma"),
        ("64", "got '64'"),
        ((28, 28), r"got \(28, 28\); write \(1, 28, 28\) for grey images"),
        ((8, 3, 32, 32), "leave out the batch dimension"),
        ((), r"got \(\)"),
        ((3, 0, 32), "every entry of input_shape must be at least 1, got 0"),
        ((2.5,), "every entry of input_shape must be a whole number"),
    ],
)
def test_refuses_other_shapes_with_the_way_out(shape, message):
    with pytest.raises(InputError, match=message):
        check_shape(shape)


def test_refuses_an_image_with_one_side_too_short():
    assert check_image("net", (1, 8, 9), smallest=8) == (1, 8, 9)
    with pytest.raises(InputError, match="'net' needs images of at least 8 x 8 pixels, got 9 x 7; use 'auto'"):
        check_image("net", (1, 9, 7), smallest=8)

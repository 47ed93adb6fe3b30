"""Mirror of src/anchored/data/pictures.py: the picture that comes out is the one that went in."""

import base64
import io

import numpy as np
import pytest
import torch
from PIL import Image

from anchored.data import data_uri, png


def opened(data):
    return np.asarray(Image.open(io.BytesIO(data)))


def opened_address(uri):
    """The kind of a ``data:`` address, and its pixels."""
    head, _, data = uri.partition(",")
    return head.removeprefix("data:image/").removesuffix(";base64"), opened(base64.b64decode(data))


@pytest.mark.parametrize("channels", [1, 3])
def test_bytes_come_back_exactly(channels):
    image = torch.randint(256, (channels, 5, 7), generator=torch.Generator().manual_seed(0)).to(torch.uint8)
    expected = image[0] if channels == 1 else image.permute(1, 2, 0)
    assert np.array_equal(opened(png(image)), expected)
    kind, seen = opened_address(data_uri(image, 96))
    assert kind == "png"
    assert np.array_equal(seen, expected)


def test_floats_are_stretched_over_the_whole_range():
    assert opened(png(torch.tensor([[[-3.0, 0.0], [0.0, 7.0]]]))).tolist() == [[0, 76], [76, 255]]
    assert opened(png(torch.tensor([[[-1.0, 0.0, float("nan"), 1.0]]]))).tolist() == [[0, 128, 128, 255]]


def test_a_flat_image_and_a_strange_number_of_channels_are_no_failure():
    assert opened(png(torch.full((1, 2, 2), 5.0))).tolist() == [[0, 0], [0, 0]]
    assert opened(png(torch.full((2, 4, 4), 0.5))).shape == (4, 4)


def test_a_large_image_is_made_small_in_proportion_and_a_photograph_becomes_jpeg():
    kind, seen = opened_address(data_uri(torch.zeros(3, 300, 600, dtype=torch.uint8), 96))
    assert (kind, seen.shape) == ("jpeg", (48, 96, 3))
    kind, seen = opened_address(data_uri(torch.zeros(1, 300, 600, dtype=torch.uint8), 96))
    assert (kind, seen.shape) == ("png", (48, 96))
    kind, seen = opened_address(data_uri(torch.zeros(3, 300, 200, dtype=torch.uint8), 60))
    assert (kind, seen.shape) == ("png", (60, 40, 3))

"""Mirror of src/anchored/report/_thumbnails.py: the picture inside is the picture outside."""

import base64
import io

import numpy as np
import pytest
import torch
from PIL import Image

from anchored.report._thumbnails import thumbnail


def opened(uri):
    head, _, data = uri.partition(",")
    assert head == "data:image/png;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))


@pytest.mark.parametrize("channels", [1, 3])
def test_pixels_of_a_small_image_are_kept(channels):
    image = torch.randint(256, (channels, 5, 7), generator=torch.Generator().manual_seed(0)).to(torch.uint8)
    seen = opened(thumbnail(image))
    assert np.array_equal(seen if channels == 3 else seen[:, :, None], image.permute(1, 2, 0).numpy())


def test_a_large_image_is_made_small_in_proportion():
    assert opened(thumbnail(torch.zeros(3, 300, 600, dtype=torch.uint8))).shape == (48, 96, 3)


def test_floats_are_stretched_over_their_range():
    image = torch.tensor([[[-1.0, 0.0, float("nan"), 1.0]]])
    assert opened(thumbnail(image)).tolist() == [[0, 128, 128, 255]]


def test_a_flat_image_and_a_strange_number_of_channels_are_no_failure():
    assert opened(thumbnail(torch.full((2, 4, 4), 0.5))).shape == (4, 4)

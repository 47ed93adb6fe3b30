"""Mirror of src/anchored/review/pictures.py: the pixels come back."""

import base64
import io

import numpy as np
import torch
from PIL import Image

from anchored.data import TensorInputs
from anchored.review.pictures import data_uri, png


def opened(data):
    return np.asarray(Image.open(io.BytesIO(data)))


def test_bytes_come_back_exactly():
    g = torch.Generator().manual_seed(0)
    grey = torch.randint(256, (2, 1, 5, 7), generator=g).to(torch.uint8)
    colour = torch.randint(256, (2, 3, 5, 7), generator=g).to(torch.uint8)
    assert np.array_equal(opened(png(TensorInputs(grey), 1)), grey[1, 0])
    assert np.array_equal(opened(png(TensorInputs(colour), 1)), colour[1].permute(1, 2, 0))


def test_floats_are_stretched_over_the_whole_range():
    image = torch.tensor([[-3.0, 0.0], [0.0, 7.0]]).view(1, 1, 2, 2)
    assert opened(png(TensorInputs(image), 0)).tolist() == [[0, 76], [76, 255]]
    assert opened(png(TensorInputs(torch.full((1, 1, 2, 2), 5.0)), 0)).tolist() == [[0, 0], [0, 0]]


def test_an_address_holds_a_picture_no_larger_than_asked():
    large = TensorInputs(torch.zeros(1, 3, 300, 200, dtype=torch.uint8))
    kind, _, data = data_uri(large, 0, side=100).partition(",")
    assert kind == "data:image/jpeg;base64"
    assert opened(base64.b64decode(data)).shape == (100, 67, 3)
    small = TensorInputs(torch.full((1, 1, 8, 8), 9, dtype=torch.uint8))
    kind, _, data = data_uri(small, 0, side=100).partition(",")
    assert kind == "data:image/png;base64"
    assert opened(base64.b64decode(data)).tolist() == [[9] * 8] * 8

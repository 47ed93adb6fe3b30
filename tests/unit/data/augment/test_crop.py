"""Mirror of src/anchored/data/augment/crop.py: windows by slicing, the law of the random ones, and PIL as a judge."""

import math

import numpy as np
import pytest
import torch
from PIL import Image

from anchored._errors import InputError
from anchored._random import per_index_uniform
from anchored.data import PaddedCrop, RandomResizedCrop


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_padded_windows_agree_with_slices(dtype):
    g = torch.Generator().manual_seed(0)
    images = torch.randint(1, 256, (20, 3, 7, 9), generator=g).to(dtype)
    u = torch.rand(20, 2, generator=g, dtype=torch.float64)
    out = PaddedCrop(2)(images, u)
    for i in range(20):
        padded = np.pad(images[i].numpy(), ((0, 0), (2, 2), (2, 2)))
        top, left = int(u[i, 0] * 5), int(u[i, 1] * 5)
        assert np.array_equal(out[i].numpy(), padded[:, top : top + 7, left : left + 9])


def test_every_place_of_the_window_is_equally_likely():
    images = torch.zeros(1, 1, 9, 9)
    images[0, 0, 4, 4] = 1
    u = per_index_uniform(0, torch.arange(8100), 2, "x")
    places = PaddedCrop(1)(images.expand(8100, -1, -1, -1), u).flatten(1).argmax(dim=1)
    counts = torch.bincount(places)
    counts = counts[counts > 0]
    assert len(counts) == 9
    assert ((counts - 900) ** 2 / 900).sum() < 26.1  # chi-squared, 8 degrees of freedom, once in a thousand


def test_no_padding_changes_nothing():
    images = torch.rand(2, 1, 4, 4)
    assert torch.equal(PaddedCrop(0)(images, torch.rand(2, 2)), images)


def test_windows_keep_to_the_image_and_to_the_law():
    n = 4000
    crop = RandomResizedCrop(8)
    u = per_index_uniform(3, torch.arange(n), crop.draws, "crop")
    height = width = torch.full((n,), 160)
    top, left, h, w = crop.boxes(u, height, width).double().unbind(dim=1)
    assert (top >= 0).all()
    assert (left >= 0).all()
    assert (top + h <= 160).all()
    assert (left + w <= 160).all()
    ratio = w / h
    assert ((ratio > 3 / 4 - 0.05) & (ratio < 4 / 3 + 0.05)).all()
    # The logarithm of the shape is symmetric about zero, the area spreads over [0.08, 1] of the image.
    assert abs(ratio.log().mean()) < 0.02
    share = h * w / 160**2
    assert share.min() < 0.1
    assert share.max() > 0.9
    assert abs(share.mean() - 0.5) < 0.05


def test_the_same_windows_as_a_plain_loop_over_tries():
    crop = RandomResizedCrop(4, scale=(0.5, 1.0))
    u = per_index_uniform(0, torch.arange(200), crop.draws, "crop")
    boxes = crop.boxes(u, torch.full((200,), 10), torch.full((200,), 30)).tolist()
    for row, box in zip(u.tolist(), boxes, strict=True):
        for t in range(10):
            area = 300 * (0.5 + row[2 * t] * 0.5)
            ratio = math.exp(math.log(3 / 4) + row[2 * t + 1] * (math.log(4 / 3) - math.log(3 / 4)))
            w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 1 <= w <= 30 and 1 <= h <= 10:
                expected = [int(row[-2] * (10 - h + 1)), int(row[-1] * (30 - w + 1)), h, w]
                break
        else:
            expected = [0, (30 - 13) // 2, 10, 13]  # the largest central window of ratio 4/3
        assert box == expected


def test_a_whole_window_of_the_same_size_is_the_image():
    crop = RandomResizedCrop(6, scale=(1.0, 1.0), ratio=(1.0, 1.0))
    images = torch.randint(0, 256, (3, 3, 6, 6), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    assert torch.equal(crop(images, torch.full((3, crop.draws), 0.3, dtype=torch.float64)), images)


def test_enlarging_agrees_with_pil():
    # Both are bilinear when they enlarge; PIL also averages when it shrinks, which a batch does not.
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (24, 24, 3), dtype=np.uint8)
    crop = RandomResizedCrop(24, scale=(0.2, 0.8))
    u = per_index_uniform(1, torch.arange(20), crop.draws, "crop")
    batch = torch.from_numpy(pixels).permute(2, 0, 1).expand(20, -1, -1, -1)
    out = crop(batch, u)
    for i, (top, left, h, w) in enumerate(crop.boxes(u, torch.full((20,), 24), torch.full((20,), 24)).tolist()):
        window = Image.fromarray(pixels[top : top + h, left : left + w]).resize((24, 24), Image.Resampling.BILINEAR)
        difference = out[i].permute(1, 2, 0).numpy().astype(int) - np.asarray(window).astype(int)
        assert abs(difference).max() <= 1


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PaddedCrop(-1), "padding"),
        (lambda: RandomResizedCrop(0), "size"),
        (lambda: RandomResizedCrop(8, scale=(0.5, 0.2)), r"scale\[0\]"),
        (lambda: RandomResizedCrop(8, scale=(0.5, 1.2)), r"scale\[1\]"),
        (lambda: RandomResizedCrop(8, ratio=(2.0, 1.0)), "ratio"),
    ],
)
def test_refusals(make, words):
    with pytest.raises(InputError, match=words):
        make()

"""Mirror of src/anchored/data/augment/colour.py: each change pixel by pixel with colorsys, the order, the bounds."""

import colorsys

import pytest
import torch

from anchored._errors import InputError
from anchored._random import per_index_uniform
from anchored.data import ColourJitter


@pytest.fixture
def images():
    return torch.rand(6, 3, 5, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def uniforms(n, *, order=0.0, amount=0.5):
    return torch.tensor([[order] + [amount] * 4] * n, dtype=torch.float64)


def grey(r, g, b):
    return 0.299 * r + 0.587 * g + 0.114 * b


def pixelwise(images, change):
    out = images.clone()
    for i, image in enumerate(images):
        mean = sum(grey(*image[:, y, x].tolist()) for y in range(5) for x in range(4)) / 20
        for y in range(5):
            for x in range(4):
                out[i, :, y, x] = torch.tensor(change(image[:, y, x].tolist(), mean), dtype=torch.float64).clamp(0, 1)
    return out


@pytest.mark.parametrize(
    ("jitter", "amount", "change"),
    [
        (ColourJitter(brightness=0.5), 1.0, lambda p, _m: [1.5 * v for v in p]),
        (ColourJitter(contrast=0.5), 0.0, lambda p, m: [0.5 * v + 0.5 * m for v in p]),
        (ColourJitter(saturation=0.5), 0.0, lambda p, _m: [0.5 * v + 0.5 * grey(*p) for v in p]),
        (
            ColourJitter(hue=0.2),
            1.0,
            lambda p, _m: colorsys.hsv_to_rgb((colorsys.rgb_to_hsv(*p)[0] + 0.2) % 1, *colorsys.rgb_to_hsv(*p)[1:]),
        ),
    ],
)
def test_each_change_agrees_with_a_pixel_by_pixel_one(images, jitter, amount, change):
    got = jitter(images, uniforms(6, amount=amount))
    torch.testing.assert_close(got, pixelwise(images, change), rtol=0, atol=1e-5)


def test_bytes_and_floats_agree_up_to_rounding(images):
    jitter = ColourJitter(0.4, 0.4, 0.4, 0.2)
    u = per_index_uniform(0, torch.arange(6), 5, "colour")
    pixels = (images * 255).round().to(torch.uint8)
    as_floats = jitter(pixels.double() / 255, u) * 255
    assert (jitter(pixels, u).double() - as_floats).abs().max() <= 0.51


def test_no_amounts_change_nothing(images):
    pixels = (images * 255).to(torch.uint8)
    assert torch.equal(ColourJitter()(pixels, torch.rand(6, 5)), pixels)


def test_the_middle_of_the_range_changes_nothing(images):
    torch.testing.assert_close(ColourJitter(0.4, 0.4, 0.4, 0.2)(images, uniforms(6)), images, atol=1e-6, rtol=0)


def test_the_order_is_drawn_and_matters(images):
    jitter = ColourJitter(brightness=0.9, contrast=0.9, saturation=0.9)
    results = {tuple(jitter(images[:1], uniforms(1, order=i / 24, amount=0.9)).flatten().tolist()) for i in range(24)}
    assert len(results) > 1


def test_values_stay_in_range_and_grey_images_stay_grey():
    u = per_index_uniform(0, torch.arange(50), 5, "colour")
    pixels = torch.randint(0, 256, (50, 3, 4, 4), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    out = ColourJitter(2.0, 2.0, 2.0, 0.5)(pixels / 255, u)
    assert out.min() >= 0
    assert out.max() <= 1
    single = ColourJitter(0.4, 0.4, 0.4, 0.2)(pixels[:, :1], u)
    assert single.shape == (50, 1, 4, 4)
    level = torch.full((1, 3, 2, 2), 90, dtype=torch.uint8)
    assert torch.equal(ColourJitter(hue=0.5)(level, uniforms(1, amount=0.9)), level)


def test_refusals():
    with pytest.raises(InputError, match="hue must lie in"):
        ColourJitter(hue=0.6)
    with pytest.raises(InputError, match="brightness"):
        ColourJitter(brightness=-0.1)
    with pytest.raises(InputError, match="1 or 3 channels, got 2"):
        ColourJitter(0.1)(torch.zeros(1, 2, 3, 3), torch.zeros(1, 5))

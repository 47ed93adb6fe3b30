"""Mirror of src/anchored/data/normalization.py: the formula, the fit against numpy, and the published constants."""

import json

import numpy as np
import pytest
import torch

from anchored._errors import InputError
from anchored.data import NORMALIZATIONS, Normalization, TensorInputs, TextInputs


@pytest.fixture
def pixels():
    return torch.randint(0, 256, (6, 3, 5, 4), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)


@pytest.mark.parametrize("channels_last", [False, True])
def test_agrees_with_the_formula(pixels, channels_last):
    constants = NORMALIZATIONS["cifar10"]
    got = constants(pixels, channels_last=channels_last)
    mean, std = (torch.tensor(v).view(3, 1, 1) for v in (constants.mean, constants.std))
    torch.testing.assert_close(got, (pixels.float() / 255 - mean) / std, rtol=1e-5, atol=1e-5)
    assert got.is_contiguous(memory_format=torch.channels_last if channels_last else torch.contiguous_format)


def test_inputs_are_left_alone(pixels):
    floats = torch.rand(4, 3)
    before = floats.clone()
    Normalization((0.0, 1.0, 2.0), (1.0, 2.0, 3.0), divisor=1)(floats)
    assert torch.equal(floats, before)


def test_a_fit_on_vectors_standardises_them():
    rows = torch.randn(5000, 4, generator=torch.Generator().manual_seed(1)) * torch.tensor([1, 2, 3, 4]) + 1000
    fitted = Normalization.fit(TensorInputs(rows))
    np.testing.assert_allclose(fitted.mean, rows.double().mean(0), rtol=1e-10)
    np.testing.assert_allclose(fitted.std, rows.double().std(0, correction=0), rtol=1e-8)
    out = fitted(rows, dtype=torch.float64)
    assert out.mean(0).abs().max() < 1e-9
    assert (out.std(0, correction=0) - 1).abs().max() < 1e-8


def test_a_fit_on_pixels_is_per_channel(pixels):
    fitted = Normalization.fit(TensorInputs(pixels))
    np.testing.assert_allclose(fitted.mean, (pixels.double() / 255).mean((0, 2, 3)))
    assert fitted.divisor == 255


def test_none_leaves_features_alone_and_brings_pixels_between_0_and_1(pixels):
    rows = torch.randn(5, 4)
    assert torch.equal(Normalization.none(TensorInputs(rows))(rows), rows)
    torch.testing.assert_close(Normalization.none(TensorInputs(pixels))(pixels), pixels / 255)


def test_a_constant_feature_becomes_zero_not_nan():
    rows = torch.tensor([[3.0, 1.0], [3.0, 2.0]])
    out = Normalization.fit(TensorInputs(rows))(rows)
    assert out[:, 0].tolist() == [0.0, 0.0]
    assert torch.isfinite(out).all()


@pytest.mark.parametrize("shape", [(5,), (3, 4, 2)])
def test_a_weight_is_a_number_of_copies(shape):
    generator = torch.Generator().manual_seed(2)
    rows = torch.randn(5000, *shape, generator=generator, dtype=torch.float64) + 100  # more than one chunk
    weights = torch.randint(0, 4, (5000,), generator=generator)
    weighted = Normalization.fit(TensorInputs(rows), weights=weights)
    repeated = Normalization.fit(TensorInputs(rows.repeat_interleave(weights, dim=0)))
    np.testing.assert_allclose(weighted.mean, repeated.mean, rtol=1e-12)
    np.testing.assert_allclose(weighted.std, repeated.std, rtol=1e-10)


def test_doubles_are_rounded_after_the_shift_and_not_before():
    rows = torch.tensor([[1.7e9], [1.7e9 + 1]], dtype=torch.float64)  # one second apart; a float resolves 128
    out = Normalization.fit(TensorInputs(rows))(rows, dtype=torch.float32)
    assert out.dtype == torch.float32
    torch.testing.assert_close(out, torch.tensor([[-1.0], [1.0]]))


def test_a_large_set_is_sampled_without_a_pattern():
    # Rows alternate between two sources, as MNIST's do: every second row would see one of them only.
    rows = torch.tensor([0.0, 1.0]).repeat(500)[:, None]
    assert abs(Normalization.fit(TensorInputs(rows), limit=500).mean[0] - 0.5) < 0.1


def test_survives_json(pixels):
    fitted = Normalization.fit(TensorInputs(pixels))
    assert Normalization.from_dict(json.loads(json.dumps(fitted.to_dict()))) == fitted


def test_published_constants():
    assert NORMALIZATIONS["mnist"] == Normalization((0.1307,), (0.3081,), 255.0)
    assert NORMALIZATIONS["cifar-longtail"].std == (0.2023, 0.1994, 0.2010)
    assert NORMALIZATIONS["imagenet"].mean == (0.485, 0.456, 0.406)
    assert NORMALIZATIONS["cifar100"].std == (0.2673, 0.2564, 0.2762)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Normalization((0.0,), (0.0,)), "must be positive"),
        (lambda: Normalization((0.0, 1.0), (1.0,)), "got 2 and 1"),
        (lambda: Normalization((0.0,), (1.0,))(torch.zeros(2, 3)), r"1 channels, the inputs are \(2, 3\)"),
        (lambda: Normalization.from_dict({"mean": [1.0]}), "needs lists"),
        (lambda: Normalization.fit(TensorInputs(torch.zeros(0, 3))), "no inputs"),
        (lambda: Normalization.fit(TensorInputs(torch.zeros(2, 3)), weights=torch.zeros(2)), "all weigh 0"),
    ],
)
def test_refusals(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_texts_have_no_mean():
    with pytest.raises(InputError, match=r"have no mean before they are encoded"):
        Normalization.fit(TextInputs(["a"]))

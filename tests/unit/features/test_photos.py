"""Mirror of src/anchored/features/photos.py: one size, three channels, upright, opaque, normalised."""

from dataclasses import asdict, replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tests.unit.features.standins import Texts, some_images, tiny_network, write_photos

from anchored import InputError
from anchored.data import FileInputs, TensorInputs
from anchored.data.images import fit_image
from anchored.features import from_module
from anchored.features.photos import PhotoView, choose_size, known_precision


@given(height=st.integers(1, 3000), width=st.integers(1, 3000))
def test_sizes_are_multiples_of_32_between_the_limits(height, width):
    h, w = choose_size(height, width)
    assert h % 32 == w % 32 == 0
    assert 128 <= min(h, w) <= 224
    assert max(h, w) <= 448
    assert (h <= w) == (height <= width) or h == w


@pytest.mark.parametrize(("side", "expected"), [(8, 128), (128, 128), (129, 160), (200, 224), (1000, 224)])
def test_small_images_are_enlarged_and_large_ones_reduced(side, expected):
    assert choose_size(side, side) == (expected, expected)


def encoder(size=(24, 24), **options):
    return from_module(tiny_network(), size=size, **options)


def test_grey_is_three_equal_channels():
    grey = some_images(3, channels=1)
    colour = TensorInputs(grey.tensor.expand(-1, 3, -1, -1).contiguous())
    assert torch.equal(encoder().transform(grey), encoder().transform(colour))


def test_pixels_in_0_to_1_are_the_same_images():
    images = some_images(4, side=24)
    unit = TensorInputs(images.tensor.float() / 255)
    torch.testing.assert_close(encoder().transform(unit), encoder().transform(images))
    assert encoder().fit(unit).view.pixels == 255
    assert encoder().fit(TensorInputs(images.tensor.float())).view.pixels == 1


def test_normalised_images_are_refused():
    with pytest.raises(InputError, match=r"pixels in 0..1 or 0..255 for a pretrained network, got -2 to 2"):
        encoder().fit(TensorInputs(torch.linspace(-2, 2, 2 * 3 * 8 * 8).reshape(2, 3, 8, 8)))


def test_the_normalisation_is_the_networks_own():
    images = some_images(2, side=24)
    network = tiny_network()
    mean, std = torch.tensor([120.0, 110.0, 100.0]), torch.tensor([60.0, 50.0, 40.0])
    by_hand = network((images.tensor.float() - mean[:, None, None]) / std[:, None, None])
    made = from_module(network, size=(24, 24), mean=mean.tolist(), std=std.tolist())
    torch.testing.assert_close(made.transform(images), by_hand.detach())


def test_files_and_the_same_pixels_in_memory_agree(tmp_path):
    files = write_photos(tmp_path, 5, size=(24, 24), ending="png")
    memory = TensorInputs(files.take(torch.arange(5)))
    assert torch.equal(encoder().transform(files), encoder().transform(memory))


def test_a_jpeg_is_reduced_while_it_is_decoded_and_looks_the_same(tmp_path, monkeypatch):
    files = write_photos(tmp_path, 3, size=(640, 640))
    sizes = []

    def fit_and_remember(image, *rest):
        sizes.append(image.size)
        return fit_image(image, *rest)

    plain = FileInputs(files.paths, (3, 64, 64), resize=1.0).take(torch.arange(3)).float()
    monkeypatch.setattr("anchored.features.photos.fit_image", fit_and_remember)
    reduced = encoder((64, 64)).fit(files).prepare(files, torch.arange(3)).float()
    assert sizes == [(80, 80)] * 3, "an eighth of 640, and still more than 64"
    assert float((reduced - plain).abs().mean()) < 2


def test_camera_rotation_and_transparency(tmp_path):
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (16, 24, 3), dtype=np.uint8)
    upright = Image.fromarray(pixels)
    upright.save(tmp_path / "upright.png")
    turned = upright.transpose(Image.Transpose.ROTATE_90)
    exif = Image.Exif()
    exif[0x0112] = 6
    turned.save(tmp_path / "turned.png", exif=exif)
    clear = Image.new("RGBA", (24, 16), (9, 9, 9, 0))
    clear.save(tmp_path / "clear.png")
    Image.new("RGB", (24, 16), "white").save(tmp_path / "white.png")
    files = FileInputs([tmp_path / f"{name}.png" for name in ("upright", "turned", "clear", "white")], (3, 16, 24))
    shown = encoder((16, 24)).fit(files).prepare(files, torch.arange(4))
    assert torch.equal(shown[0], shown[1])
    assert torch.equal(shown[2], shown[3])


def test_an_unreadable_photo_is_named(tmp_path):
    files = write_photos(tmp_path, 4)
    (tmp_path / "2.jpg").write_bytes(b"\xff\xd8\xff no photo")
    with pytest.raises(InputError, match=r"2\.jpg: ") as refused:
        encoder().transform(files)
    assert "\n" not in str(refused.value)


def test_other_inputs_are_refused_with_the_way_out():
    with pytest.raises(InputError, match="module:own encodes images, got texts; choose another encoder"):
        encoder().fit(Texts(["a"]))
    with pytest.raises(InputError, match="1 or 3 channels, got 4"):
        encoder().fit(TensorInputs(torch.zeros(1, 4, 8, 8, dtype=torch.uint8)))


def test_a_view_survives_json_and_damaged_ones_are_refused():
    view = PhotoView(128, 160, pixels=1.0)
    assert PhotoView.from_dict(asdict(view)) == view
    assert PhotoView.from_dict(asdict(PhotoView())) == PhotoView()
    for change in ({"height": -3}, {"std": (1.0, 0.0, 1.0)}, {"mean": "abc"}, {"pixels": float("inf")}, {"std": [1]}):
        with pytest.raises(InputError):
            PhotoView.from_dict({**asdict(view), **change})
    with pytest.raises(InputError, match="damaged"):
        PhotoView.from_dict({})


def test_every_part_of_the_view_is_in_the_digest():
    made = encoder().fit(some_images(2))
    digests = {made.digest}
    for change in ({"height": 32}, {"width": 32}, {"mean": (1.0, 2.0, 3.0)}, {"std": (1.0, 2.0, 3.0)}, {"pixels": 2.0}):
        digests.add(made._with(replace(made.view, **change)).digest)
    digests.add(from_module(tiny_network(), size=(24, 24), precision="bfloat16").fit(some_images(2)).digest)
    digests.add(from_module(tiny_network(seed=1), size=(24, 24)).fit(some_images(2)).digest)
    assert len(digests) == 8


def test_a_machine_without_bfloat16_computes_in_full(monkeypatch):
    monkeypatch.setattr("anchored.features.photos.has_fast_bfloat16", lambda: False)
    assert known_precision({"precision": "bfloat16"}) == "float32"
    monkeypatch.setattr("anchored.features.photos.has_fast_bfloat16", lambda: True)
    assert known_precision({"precision": "bfloat16"}) == "bfloat16"


def test_mirrored_features_are_the_mean_of_both_views():
    photos = torch.randint(256, (3, 3, 32, 32), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 4))
    plain = from_module(net, size=(32, 32)).fit(TensorInputs(photos))
    both = plain.mirrored()
    mean = (plain.transform(TensorInputs(photos)) + plain.transform(TensorInputs(photos.flip(3)))) / 2
    torch.testing.assert_close(both.transform(TensorInputs(photos)), mean)
    torch.testing.assert_close(both.as_module()(photos), mean)
    assert both.digest != plain.digest
    assert PhotoView.from_dict(asdict(both.view)).mirrored
    assert both.mirrored(False).digest == plain.digest

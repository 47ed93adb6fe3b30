"""Mirror of src/anchored/data/images.py: heads, pixels of every mode, and files that are no images."""

import os
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from anchored._errors import InputError
from anchored.data.images import MAX_PIXELS, ImageHead, fit_image, open_image, read_head


def noise(h, w, c=3):
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (h, w, c) if c > 1 else (h, w), dtype=np.uint8)


def bomb(path, width, height):
    """A PNG whose head promises any number of pixels, in under a hundred bytes."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b""))


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "P", "1", "LA", "CMYK"])
def test_head_and_pixels_of_every_mode(tmp_path, mode):
    name = tmp_path / ("i.jpg" if mode == "CMYK" else "i.png")
    Image.fromarray(noise(6, 9)).convert(mode).save(name)
    channels = 1 if mode in ("L", "1", "LA") else 3
    assert read_head(name) == ImageHead(6, 9, channels)
    assert open_image(name, channels).size == (9, 6)
    assert fit_image(open_image(name, channels), 6, 9).shape == (channels, 6, 9)


def test_pixels_of_a_lossless_file_are_exact(tmp_path):
    pixels = noise(5, 7)
    Image.fromarray(pixels).save(tmp_path / "i.png")
    assert np.array_equal(fit_image(open_image(tmp_path / "i.png", 3), 5, 7), pixels.transpose(2, 0, 1))


def test_sixteen_bits_keep_the_high_byte(tmp_path):
    values = np.array([[0, 255, 256, 65535]], dtype=np.uint16)
    Image.fromarray(values).save(tmp_path / "i.png")
    assert read_head(tmp_path / "i.png").channels == 1
    assert fit_image(open_image(tmp_path / "i.png", 1), 1, 4).tolist() == [[[0, 0, 1, 255]]]


def test_a_cameras_rotation_is_carried_out(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(noise(4, 8)).save(tmp_path / "i.jpg", exif=exif)
    assert read_head(tmp_path / "i.jpg") == ImageHead(8, 4, 3)
    assert open_image(tmp_path / "i.jpg", 3).size == (4, 8)


def test_a_float_image_is_refused(tmp_path):
    Image.fromarray(np.zeros((3, 3), dtype=np.float32)).save(tmp_path / "i.tif")
    with pytest.raises(InputError, match=r"i\.tif: a floating-point image has no agreed range"):
        open_image(tmp_path / "i.tif", 1)


@pytest.mark.parametrize("use", [read_head, lambda path: open_image(path, 3)])
@pytest.mark.parametrize(
    "content", [b"", b"hello", b"<svg></svg>", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n"]
)
def test_what_is_no_image_is_refused_by_name(tmp_path, use, content):
    (tmp_path / "i.png").write_bytes(content)
    with pytest.raises(InputError, match=r"i\.png: not an image that can be read"):
        use(tmp_path / "i.png")


@pytest.mark.parametrize("ending", ["png", "jpg", "bmp", "webp", "gif", "tif"])
def test_a_cut_image_is_refused_and_not_filled_up(tmp_path, ending):
    whole, cut = tmp_path / f"whole.{ending}", tmp_path / f"cut.{ending}"
    Image.fromarray(noise(64, 64)).save(whole)
    cut.write_bytes(whole.read_bytes()[: len(whole.read_bytes()) // 2])
    with pytest.raises(InputError, match=r"cut\."):
        open_image(cut, 3)


@pytest.mark.parametrize(("width", "height"), [(10_001, 10_000), (50_000, 50_000), (12_000, 9_000)])
def test_a_huge_image_is_refused_by_its_head_alone(tmp_path, width, height):
    bomb(tmp_path / "i.png", width, height)
    with pytest.raises(InputError, match=rf"i\.png: an image may have at most {MAX_PIXELS:,} pixels"):
        read_head(tmp_path / "i.png")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.png: there is no such file"):
        read_head(tmp_path / "none.png")


def test_fitting_covers_the_target_and_cuts_the_centre():
    # Left half black, right half white: a centre cut of a wide image keeps the edge in the middle.
    wide = Image.fromarray(np.repeat(np.array([[0] * 20 + [255] * 20], dtype=np.uint8), 10, axis=0))
    out = fit_image(wide, 10, 10)
    assert out.shape == (1, 10, 10)
    assert (out[0, :, :5] == 0).all()
    assert (out[0, :, 5:] == 255).all()


def test_fitting_agrees_with_resizing_then_cutting():
    image = Image.fromarray(noise(90, 60))
    got = fit_image(image, 28, 28, 32 / 28).astype(int)
    resized = np.asarray(image.resize((32, 48), Image.Resampling.BILINEAR)).transpose(2, 0, 1).astype(int)
    assert abs(got - resized[:, 10:38, 2:30]).max() <= 1


@pytest.mark.parametrize("read", [read_head, lambda path: open_image(path, 3)])
def test_a_pipe_is_refused_and_never_waited_for(tmp_path, read):
    os.mkfifo(tmp_path / "pipe.png")
    with pytest.raises(InputError, match=r"pipe\.png: not a regular file"):
        read(tmp_path / "pipe.png")

"""One image file: what it is, by its head alone, and its pixels as bytes ``(c, h, w)``.

Every failure is one line that names the file. Only common picture formats are opened (a PostScript file would start an
interpreter), an image of more than :data:`MAX_PIXELS` is refused before it is decoded, and a cut-off file is refused
and not filled with grey. Rotations noted by a camera are carried out.
"""

from __future__ import annotations

import stat
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps, UnidentifiedImageError

from anchored._errors import InputError

__all__ = ["IMAGE_SUFFIXES", "MAX_PIXELS", "ImageHead", "fit_image", "open_image", "read_head"]

IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm", ".pbm"})
"""File names that are taken for images."""
MAX_PIXELS = 100_000_000
"""More than this is not decoded: a small file can hold a picture that fills the memory."""

if Image.MAX_IMAGE_PIXELS is not None and Image.MAX_IMAGE_PIXELS < MAX_PIXELS:
    Image.MAX_IMAGE_PIXELS = MAX_PIXELS  # PIL warns from 89 million on; one limit is enough

_FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP", "PPM")
_ORIENTATION_TAG, _SIDEWAYS = 0x0112, (5, 6, 7, 8)
T = TypeVar("T")


@dataclass(frozen=True)
class ImageHead:
    """Size of an image, known without decoding it."""

    height: int
    """Rows of pixels, as seen upright."""
    width: int
    """Columns of pixels."""
    channels: int
    """1 for a grey image, 3 for colours."""


def _guarded(path: Path, work: Callable[[Image.Image], T]) -> T:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for ever
            raise InputError(f"{path}: not a regular file (a pipe, a device or a folder); remove it")
        with Image.open(path, formats=_FORMATS) as image:
            if image.width * image.height > MAX_PIXELS:
                raise _too_large(path, f"{image.width} x {image.height} = {image.width * image.height:,}")
            return work(image)
    except InputError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise _too_large(path, "many more") from None
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except PermissionError:
        raise InputError(f"{path}: you may not read it; change its permissions (chmod), or remove it") from None
    except UnidentifiedImageError:
        raise InputError(
            f"{path}: not an image that can be read (PNG, JPEG, BMP, GIF, TIFF, WebP or PNM); remove it"
        ) from None
    except (
        Exception
    ) as error:  # decoders raise OSError, SyntaxError, struct.error, zlib.error and more on damaged files
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path}: the image is damaged or cut short ({reason}); replace or remove it") from None


def _too_large(path: Path, size: str) -> InputError:
    return InputError(f"{path}: an image may have at most {MAX_PIXELS:,} pixels, got {size}; shrink or remove it")


def read_head(path: str | Path) -> ImageHead:
    """Read size and channels of an image file, without decoding its pixels.

    Raises:
        InputError: If it is no image that can be read, or has more than :data:`MAX_PIXELS`.
    """

    def head(image: Image.Image) -> ImageHead:
        width, height = image.size
        # Only if the head holds it: for a PNG, PIL would decode the whole file to look for it.
        if image.format != "PNG" and image.getexif().get(_ORIENTATION_TAG) in _SIDEWAYS:
            width, height = height, width
        return ImageHead(
            height, width, 1 if image.mode in ("1", "L", "LA", "I", "F") or image.mode.startswith("I;") else 3
        )

    with warnings.catch_warnings():
        # Between its two limits PIL only warns; the refusal below says it in one line.
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        return _guarded(Path(path), head)


def open_image(path: str | Path, channels: int, *, at_least: int | None = None) -> Image.Image:
    """Decode an image, upright; transparent places become white.

    Args:
        path: The file.
        channels: 1 for grey, 3 for RGB.
        at_least: Sides that suffice, in pixels: a JPEG is then decoded at a half, a quarter or an eighth of its size if
            both sides stay at least this long, which takes a fraction of the time.

    Returns:
        The image in mode ``L`` or ``RGB``.

    Raises:
        InputError: If the file is missing, no image, damaged or too large; the line names it.
    """
    path = Path(path)

    def decode(image: Image.Image) -> Image.Image:
        if at_least is not None:
            image.draft(None, (at_least, at_least))
        image.load()
        upright = ImageOps.exif_transpose(image)
        return _opaque(_eight_bit(upright, path)).convert("L" if channels == 1 else "RGB")

    return _guarded(path, decode)


def _opaque(image: Image.Image) -> Image.Image:
    # PIL drops alpha as it converts, which shows the colour that was hidden, often black.
    if image.mode not in ("RGBA", "LA", "PA") and "transparency" not in image.info:
        return image
    seen = image.convert("RGBA")
    white = Image.new("RGBA", seen.size, "white")
    return Image.alpha_composite(white, seen)


def _eight_bit(image: Image.Image, path: Path) -> Image.Image:
    # PIL clips 16-bit values at 255 when it converts, which turns most such images white; keep the high byte.
    if image.mode == "I" or image.mode.startswith("I;"):
        values = np.asarray(image).astype(np.int64)
        if values.size and (values.min() < 0 or values.max() > 65535):
            raise InputError(f"{path}: pixels must fit 16 bits, got {values.min()} to {values.max()}; save it as 8-bit")
        return Image.fromarray((values >> 8).astype(np.uint8))
    if image.mode == "F":
        raise InputError(f"{path}: a floating-point image has no agreed range; save it as 8-bit")
    return image


def fit_image(image: Image.Image, height: int, width: int, resize: float = 1.0) -> npt.NDArray[np.uint8]:
    """Bring an image to a size: resized so that it covers ``resize`` times the target, then cut at the centre.

    An image of the target's own size is taken as it is.

    Args:
        image: The decoded image.
        height: Height of the target.
        width: Width of the target.
        resize: How much larger than the target the image is made before the cut.

    Returns:
        Pixels ``(c, height, width)``.

    Example:
        >>> fit_image(Image.new("RGB", (40, 20)), 8, 8).shape
        (3, 8, 8)
    """
    if image.size != (width, height):
        scale = max(resize * height / image.height, resize * width / image.width)
        new_w, new_h = max(width, round(image.width * scale)), max(height, round(image.height * scale))
        left, top = (new_w - width) // 2, (new_h - height) // 2
        # Cut and resize in one go: only the pixels that are kept are computed.
        x, y = image.width / new_w, image.height / new_h
        image = image.resize(
            (width, height), Image.Resampling.BILINEAR, box=(left * x, top * y, (left + width) * x, (top + height) * y)
        )
    pixels = np.asarray(image, dtype=np.uint8)
    return pixels[None] if pixels.ndim == 2 else np.ascontiguousarray(pixels.transpose(2, 0, 1))

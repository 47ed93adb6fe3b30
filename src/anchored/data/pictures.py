"""An image of a data set as a picture file: the bytes of a PNG, or a small ``data:`` address to put into a page."""

from __future__ import annotations

import base64
import io

import torch
from PIL import Image
from torch import Tensor

__all__ = ["data_uri", "png"]

_PHOTO_SIDE = 64
"""Colour pictures with a longer side become JPEG: smaller files, and nobody sees the difference."""


def png(pixels: Tensor) -> bytes:
    r"""Write an image ``(c, h, w)`` as the bytes of a PNG file.

    Bytes are kept as they are. Floats have no agreed range, so each image is stretched from its smallest to its largest
    value. One channel is grey and three are colours; of any other number the first channel is shown.

    Example:
        >>> png(torch.zeros(1, 8, 8, dtype=torch.uint8))[:8]
        b'\x89PNG\r\n\x1a\n'
    """
    return _encoded(_image(pixels), "PNG")


def data_uri(pixels: Tensor, side: int) -> str:
    """Write an image ``(c, h, w)`` as a ``data:`` address, which an HTML page can hold.

    Args:
        pixels: Bytes or floats, as for :func:`png`.
        side: Largest width and height in pixels; a larger image is made smaller, in proportion.

    Returns:
        A PNG, or a JPEG if the picture is a large one in colour, encoded as text.

    Example:
        >>> data_uri(torch.zeros(1, 8, 8, dtype=torch.uint8), 96)[:22]
        'data:image/png;base64,'
    """
    image = _image(pixels)
    image.thumbnail((side, side))
    kind = "JPEG" if image.mode == "RGB" and max(image.size) > _PHOTO_SIDE else "PNG"
    return f"data:image/{kind.lower()};base64,{base64.b64encode(_encoded(image, kind)).decode('ascii')}"


def _image(pixels: Tensor) -> Image.Image:
    pixels = pixels.detach().cpu()
    pixels = pixels if pixels.shape[0] in (1, 3) else pixels[:1]
    if pixels.dtype != torch.uint8:
        values = pixels.double().nan_to_num(0.0)
        low, high = float(values.min()), float(values.max())
        pixels = ((values - low) / max(high - low, 1e-12) * 255).round().to(torch.uint8)
    array = pixels.permute(1, 2, 0).contiguous().numpy()
    return Image.fromarray(array[:, :, 0] if array.shape[2] == 1 else array)


def _encoded(image: Image.Image, kind: str) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **({"quality": 85} if kind == "JPEG" else {"compress_level": 1}))
    return file.getvalue()

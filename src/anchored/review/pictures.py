"""A sample of an image data set as a PNG, as the model sees it; or, small, as text to put into a page."""

from __future__ import annotations

import base64
import io

import numpy as np
import torch
from PIL import Image

from anchored.data import Inputs

__all__ = ["data_uri", "png"]

_PHOTO_SIDE = 64


def png(inputs: Inputs, index: int) -> bytes:
    r"""The image at ``index`` as the bytes of a PNG file.

    Images of floats have no agreed range, so each is stretched from its smallest to its largest value.

    Example:
        >>> from anchored.data import load_digits
        >>> png(load_digits().train.inputs, 0)[:8]
        b'\x89PNG\r\n\x1a\n'
    """
    return _encoded(_image(inputs, index), "PNG")


def data_uri(inputs: Inputs, index: int, *, side: int) -> str:
    """The image as a ``data:`` address, made smaller where it is larger than ``side``; photographs as JPEG."""
    image = _image(inputs, index)
    image.thumbnail((side, side))
    photo = image.mode == "RGB" and max(image.size) > _PHOTO_SIDE
    kind = "JPEG" if photo else "PNG"
    return f"data:image/{kind.lower()};base64,{base64.b64encode(_encoded(image, kind)).decode('ascii')}"


def _image(inputs: Inputs, index: int) -> Image.Image:
    pixels = inputs.take(torch.tensor([index]))[0].cpu()
    if pixels.dtype != torch.uint8:
        low, high = pixels.min(), pixels.max()
        pixels = ((pixels - low) / (high - low).clamp(min=torch.finfo(pixels.dtype).tiny) * 255).round().to(torch.uint8)
    array = pixels.numpy()
    return Image.fromarray(array[0] if len(array) == 1 else np.ascontiguousarray(array.transpose(1, 2, 0)))


def _encoded(image: Image.Image, kind: str) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **({"quality": 85} if kind == "JPEG" else {"compress_level": 1}))
    return file.getvalue()

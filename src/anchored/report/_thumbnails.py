"""An input as a small picture inside the page: a PNG in a data URI."""

from __future__ import annotations

import base64
import io

import torch
from PIL import Image
from torch import Tensor

__all__ = ["thumbnail"]

_SIDE = 96


def thumbnail(image: Tensor, side: int = _SIDE) -> str:
    """``image`` ``(c, h, w)``, uint8 or float, as ``data:image/png;base64,…`` at most ``side`` pixels wide and high.

    Floats are stretched over the range they have. One channel is grey, three are colour, of any other number the
    first is shown.

    Example:
        >>> thumbnail(torch.zeros(1, 8, 8, dtype=torch.uint8))[:22]
        'data:image/png;base64,'
    """
    pixels = image.detach().cpu()
    pixels = pixels if pixels.shape[0] in (1, 3) else pixels[:1]
    if pixels.dtype != torch.uint8:
        values = pixels.double().nan_to_num(0.0)
        low, high = float(values.min()), float(values.max())
        pixels = ((values - low) / max(high - low, 1e-12) * 255).round().to(torch.uint8)
    array = pixels.permute(1, 2, 0).contiguous().numpy()
    picture = Image.fromarray(array[:, :, 0] if array.shape[2] == 1 else array)
    picture.thumbnail((side, side))
    written = io.BytesIO()
    picture.save(written, format="PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(written.getvalue()).decode('ascii')}"

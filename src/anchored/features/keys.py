"""The content of an input as a short key: the same bytes have the same key, whatever they are called.

A photo that is moved to the folder of another class, or a test set that shares samples with the training set, is
therefore not encoded twice.
"""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from torch import Tensor

from anchored._errors import InputError
from anchored.data import FileInputs, Inputs, TensorInputs

__all__ = ["KEY_BYTES", "content_keys", "describe_source"]

KEY_BYTES = 16
"""Length of a key."""
_AT_ONCE = 2**20


def describe_source(inputs: Inputs) -> str | None:
    """Say how rows are read, as far as it decides their vectors; None if rows have no content that can be keyed.

    Args:
        inputs: The inputs.

    Example:
        >>> import torch
        >>> describe_source(TensorInputs(torch.zeros(2, 3, 8, 8, dtype=torch.uint8)))
        'tensor torch.uint8 3x8x8'
    """
    if isinstance(inputs, FileInputs):
        return "files"
    if isinstance(inputs, TensorInputs):
        return f"tensor {inputs.tensor.dtype} {'x'.join(map(str, inputs.shape))}"
    return "texts" if hasattr(inputs, "texts") else None


def content_keys(inputs: Inputs, rows: Tensor) -> list[bytes]:
    """Digest the content of rows: bytes of a file, of an array's row, of a text.

    Args:
        inputs: Files, tensors or texts.
        rows: Row numbers ``(m,)``.

    Returns:
        One key of :data:`KEY_BYTES` bytes per row.

    Raises:
        InputError: If a file cannot be read; the line names it.

    Example:
        >>> import torch
        >>> keys = content_keys(TensorInputs(torch.tensor([[1.0], [2.0], [1.0]])), torch.arange(3))
        >>> keys[0] == keys[2], keys[0] == keys[1], len(keys[0])
        (True, False, 16)
    """
    numbers = rows.tolist()
    if isinstance(inputs, FileInputs):
        with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
            return list(pool.map(_of_file, (inputs.paths[i] for i in numbers)))
    if isinstance(inputs, TensorInputs):
        some = inputs.take(rows).cpu().numpy()
        return [_short(row.tobytes()) for row in some]
    texts = inputs.texts  # type: ignore[attr-defined]  # describe_source has said that they are there
    return [_short(texts[i].encode("utf-8", "surrogatepass")) for i in numbers]


def _short(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()[:KEY_BYTES]


def _of_file(path: str) -> bytes:
    whole = hashlib.sha256()
    try:
        if not Path(path).is_file():
            raise InputError(f"{path}: there is no such file")
        with Path(path).open("rb") as file:
            while block := file.read(_AT_ONCE):
                whole.update(block)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); make it readable, or remove it") from None
    return whole.digest()[:KEY_BYTES]

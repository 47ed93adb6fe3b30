"""MNIST and Fashion-MNIST in their idx files: two zero bytes, a type, a number of axes, their lengths, then the bytes.

The files are found as torchvision lays them out (``R/MNIST/raw``, ``R/FashionMNIST/raw``) or directly in ``R``,
plain or with ``.gz``.
"""

from __future__ import annotations

import gzip
import math
import zlib
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from anchored._errors import InputError
from anchored._files import regular_size
from anchored.data.dataset import Dataset, RowIds, Split
from anchored.data.inputs import TensorInputs

__all__ = ["load_fashion_mnist", "load_mnist", "read_idx"]

_FASHION = ("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot")
_DIGITS = tuple(str(digit) for digit in range(10))
_UNSIGNED_BYTE = 0x08
_LARGEST_RATIO = 1032
"""No gzip file unpacks to more than so many times its size."""


def read_idx(path: str | Path) -> Tensor:
    """Read an idx file of bytes, plain or gzipped.

    Raises:
        InputError: If the file is damaged, or its length is not what its head says.
    """
    path = Path(path)
    size = regular_size(path, way_out="download it again")
    packed = path.suffix == ".gz"
    try:
        with gzip.open(path) if packed else path.open("rb") as file:
            head = file.read(4)
            if len(head) < 4 or head[:2] != b"\0\0" or head[2] != _UNSIGNED_BYTE or not 1 <= head[3] <= 4:
                raise InputError(f"{path}: not an idx file of bytes (it must begin 00 00 08); download it again")
            lengths = file.read(4 * head[3])
            shape = [int.from_bytes(lengths[i : i + 4], "big") for i in range(0, 4 * head[3], 4)]
            promised = math.prod(shape)
            most = _LARGEST_RATIO * size if packed else size
            # One byte more than promised: a file that goes on is not what its head says either.
            data = file.read(min(promised, most) + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(f"{path}: the gzip file is damaged or cut short; download it again") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    if len(data) != promised or len(lengths) < 4 * head[3]:
        got = len(data) if len(data) <= promised else f"at least {len(data)}"
        raise InputError(f"{path}: its head promises {'x'.join(map(str, shape))} bytes, got {got}; download it again")
    return torch.from_numpy(np.frombuffer(data, dtype=np.uint8).reshape(shape).copy())


def _folder(root: Path, places: tuple[str, ...], command: str) -> Path:
    for place in places:
        folder = root / place
        if any((folder / f"train-images-idx3-ubyte{end}").exists() for end in ("", ".gz")):
            return folder
    raise InputError(
        f"{root}: no train-images-idx3-ubyte[.gz] in {' or '.join(str(root / place) for place in places)}; "
        f"get it with `anchored data {command} --root {root}`"
    )


def _part(folder: Path, prefix: Literal["train", "t10k"], name: str, class_names: tuple[str, ...]) -> Dataset:
    def read(rest: str) -> tuple[Path, Tensor]:
        plain = folder / f"{prefix}-{rest}"
        path = plain if plain.exists() else plain.with_name(f"{plain.name}.gz")
        return path, read_idx(path)

    images_path, images = read("images-idx3-ubyte")
    labels_path, labels = read("labels-idx1-ubyte")
    if images.ndim != 3 or labels.ndim != 1 or len(images) != len(labels):
        raise InputError(
            f"{images_path} and {labels_path.name} do not belong together: "
            f"their shapes are {tuple(images.shape)} and {tuple(labels.shape)}"
        )
    if len(labels) and int(labels.max()) >= len(class_names):
        row = int((labels >= len(class_names)).nonzero()[0])
        raise InputError(f"{labels_path}, row {row}: a label must lie in 0..9, got {int(labels[row])}")
    return Dataset(
        name=name,
        inputs=TensorInputs(images[:, None]),
        labels=labels.to(torch.int64),
        class_names=class_names,
        ids=RowIds(torch.arange(len(labels))),
    )


def load_mnist(root: str | Path) -> Split:
    """Open MNIST: 60,000 training and 10,000 test digits, ``(1, 28, 28)`` bytes."""
    folder = _folder(Path(root), ("MNIST/raw", "raw", "."), "mnist")
    return Split(_part(folder, "train", "mnist", _DIGITS), _part(folder, "t10k", "mnist", _DIGITS))


def load_fashion_mnist(root: str | Path) -> Split:
    """Open Fashion-MNIST: 60,000 training and 10,000 test pictures of clothes, ``(1, 28, 28)`` bytes."""
    folder = _folder(Path(root), ("FashionMNIST/raw", "fashion-mnist", "raw", "."), "fashion-mnist")
    return Split(_part(folder, "train", "fashion-mnist", _FASHION), _part(folder, "t10k", "fashion-mnist", _FASHION))

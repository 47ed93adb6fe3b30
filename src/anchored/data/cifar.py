"""CIFAR-10 and CIFAR-100, in the binary and in the python version.

A record of the binary version is one label byte (CIFAR-100: coarse, then fine) and 3,072 pixel bytes, red, green, blue,
row by row. The python version is a pickle, and a pickle can run anything. It is read by an unpickler that knows the
three names numpy writes and answers them with stand-ins that only remember what they were given; nothing that the file
names is ever imported or called, and the array is then built from its bytes.
"""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from anchored._errors import InputError
from anchored.data.dataset import Dataset, RowIds, Split
from anchored.data.inputs import TensorInputs

__all__ = ["CIFAR10_CLASSES", "CIFAR100_CLASSES", "load_cifar10", "load_cifar100"]

CIFAR10_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
# fmt: off
CIFAR100_CLASSES = (
    "apple", "aquarium_fish", "baby", "bear", "beaver", "bed", "bee", "beetle", "bicycle", "bottle", "bowl", "boy",
    "bridge", "bus", "butterfly", "camel", "can", "castle", "caterpillar", "cattle", "chair", "chimpanzee", "clock",
    "cloud", "cockroach", "couch", "crab", "crocodile", "cup", "dinosaur", "dolphin", "elephant", "flatfish",
    "forest", "fox", "girl", "hamster", "house", "kangaroo", "keyboard", "lamp", "lawn_mower", "leopard", "lion",
    "lizard", "lobster", "man", "maple_tree", "motorcycle", "mountain", "mouse", "mushroom", "oak_tree", "orange",
    "orchid", "otter", "palm_tree", "pear", "pickup_truck", "pine_tree", "plain", "plate", "poppy", "porcupine",
    "possum", "rabbit", "raccoon", "ray", "road", "rocket", "rose", "sea", "seal", "shark", "shrew", "skunk",
    "skyscraper", "snail", "snake", "spider", "squirrel", "streetcar", "sunflower", "sweet_pepper", "table", "tank",
    "telephone", "television", "tiger", "tractor", "train", "trout", "tulip", "turtle", "wardrobe", "whale",
    "willow_tree", "wolf", "woman", "worm",
)
# fmt: on
_PIXELS = 3 * 32 * 32


def load_cifar10(root: str | Path) -> Split:
    """Open CIFAR-10: 50,000 training and 10,000 test images ``(3, 32, 32)`` of ten classes.

    They are looked for in ``root/cifar-10-batches-bin``, ``root/cifar-10-batches-py`` and ``root`` itself.
    """
    root = Path(root)
    parts = ([f"data_batch_{i}" for i in range(1, 6)], ["test_batch"])
    for folder in (root / "cifar-10-batches-bin", root):
        if (folder / "data_batch_1.bin").exists():
            return _split("cifar10", [[_binary(folder / f"{n}.bin", 1, 10) for n in p] for p in parts], CIFAR10_CLASSES)
    for folder in (root / "cifar-10-batches-py", root):
        if (folder / "data_batch_1").exists():
            return _split("cifar10", [[_python(folder / n, b"labels", 10) for n in p] for p in parts], CIFAR10_CLASSES)
    raise _missing(root, "data_batch_1.bin", "cifar-10-batches-bin", "data_batch_1", "cifar-10-batches-py", "cifar10")


def load_cifar100(root: str | Path) -> Split:
    """Open CIFAR-100: 50,000 training and 10,000 test images ``(3, 32, 32)`` of a hundred classes (the fine labels).

    They are looked for in ``root/cifar-100-binary``, ``root/cifar-100-python`` and ``root`` itself.
    """
    root = Path(root)
    for folder in (root / "cifar-100-binary", root):
        if (folder / "train.bin").exists():
            parts = [[_binary(folder / f"{n}.bin", 2, 100)] for n in ("train", "test")]
            return _split("cifar100", parts, CIFAR100_CLASSES)
    for folder in (root / "cifar-100-python", root):
        if (folder / "train").is_file():
            parts = [[_python(folder / n, b"fine_labels", 100)] for n in ("train", "test")]
            return _split("cifar100", parts, CIFAR100_CLASSES)
    raise _missing(root, "train.bin", "cifar-100-binary", "train", "cifar-100-python", "cifar100")


def _missing(root: Path, binary: str, binary_folder: str, python: str, python_folder: str, name: str) -> InputError:
    return InputError(
        f"{root}: neither {binary_folder}/{binary} nor {python_folder}/{python} is there; "
        f"get it with `anchored data {name} --root {root}`"
    )


def _split(name: str, parts: list[list[tuple[Tensor, Tensor]]], class_names: tuple[str, ...]) -> Split:
    train, test = (
        Dataset(
            name=name,
            inputs=TensorInputs(torch.cat([pixels for pixels, _ in files])),
            labels=torch.cat([labels for _, labels in files]),
            class_names=class_names,
            ids=RowIds(torch.arange(sum(len(labels) for _, labels in files))),
        )
        for files in parts
    )
    return Split(train, test)


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None


def _binary(path: Path, label_bytes: int, k: int) -> tuple[Tensor, Tensor]:
    data, record = _bytes_of(path), label_bytes + _PIXELS
    if not data or len(data) % record:
        raise InputError(f"{path}: its length must be a multiple of {record} bytes, got {len(data)}; download it again")
    rows = np.frombuffer(data, dtype=np.uint8).reshape(-1, record)
    return _checked(path, rows[:, label_bytes:], rows[:, label_bytes - 1].astype(np.int64), k)


def _checked(
    path: Path, pixels: np.ndarray[tuple[int, ...], np.dtype[np.uint8]], labels: object, k: int
) -> tuple[Tensor, Tensor]:
    codes = torch.as_tensor(labels, dtype=torch.int64)
    wrong = ((codes < 0) | (codes >= k)).nonzero()
    if len(wrong):
        raise InputError(
            f"{path}, row {int(wrong[0])}: a label must lie in 0..{k - 1}, got {int(codes[int(wrong[0])])}"
        )
    return torch.from_numpy(pixels.reshape(-1, 3, 32, 32).copy()), codes


def _python(path: Path, label_key: bytes, k: int) -> tuple[Tensor, Tensor]:
    try:
        content = _ArrayUnpickler(io.BytesIO(_bytes_of(path)), encoding="bytes").load()
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except Exception as error:  # a damaged pickle can raise almost anything
        raise InputError(f"{path}: not a readable CIFAR file ({type(error).__name__}); download it again") from None
    entries = content if isinstance(content, dict) else {}
    by_key = {key.encode() if isinstance(key, str) else key: value for key, value in entries.items()}
    data, labels = by_key.get(b"data"), by_key.get(label_key)
    if not isinstance(data, _ArrayStandIn) or not isinstance(labels, list) or not all(type(v) is int for v in labels):
        raise InputError(
            f"{path}: it must hold 'data' (an array) and {label_key.decode()!r} (a list); download it again"
        )
    pixels = data.as_bytes(path)
    if pixels.shape != (len(labels), _PIXELS):
        raise InputError(f"{path}: {len(labels)} labels do not fit pixels of shape {pixels.shape}; download it again")
    return _checked(path, pixels, labels, k)


class _ArrayStandIn:
    """What numpy would have been told to build: remembered, not built."""

    def __init__(self, *_: object) -> None:
        self.state: object = None

    def __setstate__(self, state: object) -> None:
        self.state = state

    def as_bytes(self, path: Path) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
        match self.state:
            case (_, (int() as n, int() as width), _TypeStandIn(name="u1"), order, bytes() as data) if (
                n >= 0 and len(data) == n * width
            ):
                return np.frombuffer(data, dtype=np.uint8).reshape((n, width), order="F" if order else "C")
        raise InputError(f"{path}: 'data' must be a two-dimensional array of bytes; download it again")


class _TypeStandIn:
    """The name of an array's type."""

    def __init__(self, name: object = None, *_: object) -> None:
        text = name.decode("ascii", "replace") if isinstance(name, bytes) else str(name)
        self.name = {"|u1": "u1", "uint8": "u1"}.get(text, text)

    def __setstate__(self, state: object) -> None:
        """Byte order and the like: nothing that a byte has."""


class _ShapeStandIn:
    """The class ``ndarray``, which the file hands to numpy's rebuilding function and which is not needed here."""


class _ArrayUnpickler(pickle.Unpickler):
    """Reads plain values and arrays; any other name in the file is refused before it is looked up."""

    _ADMITTED: dict[tuple[str, str], type] = {  # noqa: RUF012  read only
        ("numpy.core.multiarray", "_reconstruct"): _ArrayStandIn,
        ("numpy._core.multiarray", "_reconstruct"): _ArrayStandIn,
        ("numpy", "ndarray"): _ShapeStandIn,
        ("numpy", "dtype"): _TypeStandIn,
    }

    def find_class(self, module: str, name: str) -> type:
        if (module, name) not in self._ADMITTED:
            raise InputError(
                f"it asks for {module}.{name}, which no CIFAR file needs; it was not run, and is not to be trusted"
            )
        return self._ADMITTED[module, name]

    def persistent_load(self, pid: object) -> object:
        raise InputError("it refers to objects outside itself, which no CIFAR file does; download it again")

"""Two benchmarks whose labels people got wrong, with the truth beside them: CIFAR-10N and NoisyAG-News.

====================  ====================================================  =====================================
name                  labels                                                files below the root
====================  ====================================================  =====================================
``cifar10n-aggre``    majority of three annotators, 9 % wrong               those of CIFAR-10, and
``cifar10n-random1``  the first annotator (``2``, ``3`` likewise), 17-18 %  ``cifar10n/labels.npz``: ``clean``,
``cifar10n-worse``    a wrong label of the three if there is one, 40 %      ``aggre``, ``random1..3``, ``worse``
``agnews``            majority of three annotators, 20 % wrong              ``agnews/train.csv``, ``agnews/test.csv``:
                                                                            the columns ``text,label,truth``
====================  ====================================================  =====================================

The truth becomes ``clean_labels``: for scoring only, nothing that trains or chooses may read it. Test parts are
labelled with the truth.

References:
    Wei, Zhu, Cheng, Liu, Niu and Liu, 2022. Learning with Noisy Labels Revisited: A Study Using Real-World Human
    Annotations. ICLR.

    Huang, Liang, Sun, Jin and Yin, 2024. NoisyAG-News: A Benchmark for Addressing Instance-Dependent Noise in Text
    Classification. arXiv:2407.06579.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from anchored._errors import InputError
from anchored._names import choose
from anchored.data.arrays import Array, read_arrays
from anchored.data.cifar import load_cifar10
from anchored.data.csv_columns import read_csv_columns
from anchored.data.dataset import Dataset, RowIds, Split
from anchored.data.labels import encode_labels, order_names
from anchored.data.text import TextInputs

__all__ = ["CIFAR10N", "ORIGINS", "load_agnews", "load_cifar10n"]

CIFAR10N = ("aggre", "random1", "random2", "random3", "worse")
"""The sets of labels of CIFAR-10N."""

ORIGINS: dict[str, str] = {
    **dict.fromkeys(
        [f"cifar10n-{labels}" for labels in CIFAR10N],
        "its labels are published at https://github.com/UCSC-REAL/cifar-10-100n (CC BY-NC 4.0): save them with "
        f"numpy.savez as cifar10n/labels.npz (arrays clean, {', '.join(CIFAR10N)}) below the root, beside the images "
        "that `anchored data cifar10` gets",
    ),
    "agnews": "it is NoisyAG-News, https://arxiv.org/abs/2407.06579 (MIT): write agnews/train.csv and agnews/test.csv "
    "below the root, with the columns text,label,truth",
}
"""Where the files of each set come from and how to lay them out; they cannot be downloaded as they are used."""


def load_cifar10n(root: str | Path, labels: str) -> Split:
    """Open the images of CIFAR-10 under labels given by people.

    Args:
        root: The folder with ``cifar10n/labels.npz`` and the files of CIFAR-10, as :func:`load_cifar10` finds them.
        labels: Which labels: ``aggre``, ``random1``, ``random2``, ``random3`` or ``worse``.

    Returns:
        50,000 training images with the labels asked for and the truth as ``clean_labels``; 10,000 test images.

    Raises:
        InputError: If a file is missing or damaged, or the labels belong to images in another order.
    """
    choose(labels, dict.fromkeys(CIFAR10N), what="labels of CIFAR-10N")
    name = f"cifar10n-{labels}"
    path = _needed(Path(root), "cifar10n/labels.npz", name)
    split = load_cifar10(root)
    arrays = read_arrays(path)
    given, clean = (_labels(arrays, key, path, len(split.train), split.train.k) for key in (labels, "clean"))
    wrong = (clean != split.train.labels).nonzero()
    if len(wrong):
        raise InputError(
            f"{path}, array 'clean', row {int(wrong[0])}: it is not the label of this image of CIFAR-10; "
            f"put the labels in the order of the official files"
        )
    train = split.train.with_labels(given, clean_labels=clean)
    assert split.test is not None, "CIFAR-10 has one"
    return Split(replace(train, name=name), replace(split.test, name=name))


def _labels(arrays: Array | dict[str, Array], key: str, path: Path, n: int, k: int) -> Tensor:
    array = arrays.get(key) if isinstance(arrays, dict) else None
    if array is None:
        held = ", ".join(arrays) if isinstance(arrays, dict) else "a single array"
        raise InputError(f"{path} must hold an array called {key!r}, got {held}")
    if array.shape != (n,) or array.dtype.kind not in "iu" or (n and not 0 <= array.min() <= array.max() < k):
        raise InputError(
            f"{path}, array {key!r}: {n:,} whole numbers in 0..{k - 1} are needed, one per training image, "
            f"got {array.dtype} of shape {array.shape}"
        )
    return torch.from_numpy(array.astype(np.int64))


def load_agnews(root: str | Path) -> Split:
    """Open news items of four topics: texts with the labels that people gave them, and a test part with the truth.

    They are looked for in ``root/agnews/train.csv`` and ``root/agnews/test.csv``, with the columns
    ``text,label,truth``.

    Raises:
        InputError: If a file is missing or a column or label in it is.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp(), "agnews")
        >>> folder.mkdir()
        >>> for part in ("train", "test"):
        ...     rows = ["text,label,truth", "goal!,Sports,Sports", "shares fall,World,Business"]
        ...     _ = (folder / f"{part}.csv").write_text(chr(10).join(rows))
        >>> train = load_agnews(folder.parent).train
        >>> train.class_names, train.labels.tolist(), train.clean_labels.tolist()
        (('Business', 'Sports', 'World'), [1, 2], [1, 0])
    """
    parts = {part: _news(_needed(Path(root), f"agnews/{part}.csv", "agnews")) for part in ("train", "test")}
    names = order_names({label for columns in parts.values() for key in ("label", "truth") for label in columns[key]})

    def encoded(part: str, column: str) -> Tensor:
        return encode_labels(parts[part][column], names, where=str)[0]

    train, test = (
        Dataset(
            name="agnews",
            inputs=TextInputs(columns["text"]),
            labels=encoded(part, "label" if part == "train" else "truth"),
            class_names=names,
            ids=RowIds(torch.arange(len(columns["text"]))),
            clean_labels=encoded(part, "truth") if part == "train" else None,
        )
        for part, columns in parts.items()
    )
    return Split(train, test)


def _news(path: Path) -> dict[str, list[str]]:
    table = read_csv_columns(path, verbatim=("text", "label", "truth"))
    found: dict[str, list[str]] = {}
    for column in ("text", "label", "truth"):
        if column not in table.columns:
            raise InputError(f"{path}: there is no column {column!r}; the columns must be text,label,truth")
        cells = table.columns[column].cells()
        if column != "text" and None in cells:
            raise InputError(f"{table.where(cells.index(None))}: the {column} is empty; fill or drop it")
        found[column] = [cell or "" for cell in cells]
    return found


def _needed(root: Path, file: str, name: str) -> Path:
    if not (root / file).is_file():
        raise InputError(
            f"{root}: {file} is not there; what to put there is said by `anchored data {name} --root {root}`"
        )
    return root / file

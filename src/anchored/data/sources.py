"""From what a user writes to a data set: a built-in name, a file, a folder, arrays or a torch data set."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast, overload

import torch

from anchored._errors import InputError
from anchored._names import suggest
from anchored.data.arrays import Array, from_arrays, load_npy, load_npz
from anchored.data.cifar import load_cifar10, load_cifar100
from anchored.data.dataset import UNLABELLED, Dataset, Split
from anchored.data.digits import load_digits
from anchored.data.file_inputs import MEMORY_LIMIT
from anchored.data.folder import load_folder
from anchored.data.idx import load_fashion_mnist, load_mnist
from anchored.data.labels import LabelPolicy
from anchored.data.listfile import load_list
from anchored.data.table import load_table
from anchored.data.torch_dataset import from_torch

__all__ = ["BUILT_IN", "open_source"]

BUILT_IN: dict[str, Callable[[Path], Split]] = {
    "digits": lambda _root: load_digits(),
    "mnist": load_mnist,
    "fashion-mnist": load_fashion_mnist,
    "cifar10": load_cifar10,
    "cifar100": load_cifar100,
}
"""The data sets that are known by name; all but ``digits`` are looked for below a root."""


@dataclass(frozen=True)
class _Options:
    root: Path | None
    label: str | None
    image: str | None
    columns: Sequence[str] | None
    class_names: tuple[str, ...] | None
    labels: LabelPolicy
    shape: tuple[int, ...] | None
    side: int | None
    below_label: int | None
    memory_limit: int


def _table(path: Path, o: _Options) -> Split:
    return load_table(
        path,
        label=o.label,
        image=o.image,
        root=o.root,
        columns=o.columns,
        class_names=o.class_names,
        labels=o.labels,
        shape=o.shape,
        side=o.side,
        memory_limit=o.memory_limit,
    )


def _npz(path: Path, o: _Options) -> Split:
    return load_npz(path, class_names=o.class_names, labels=o.labels)


def _npy(path: Path, o: _Options) -> Split:
    return load_npy(path, o.label, class_names=o.class_names, labels=o.labels)


def _list(path: Path, o: _Options) -> Split:
    return load_list(
        path,
        root=o.root,
        below_label=o.below_label,
        class_names=o.class_names,
        labels=o.labels,
        shape=o.shape,
        side=o.side,
        memory_limit=o.memory_limit,
    )


_FILES: dict[str, Callable[[Path, _Options], Split]] = {
    ".csv": _table,
    ".tsv": _table,
    ".parquet": _table,
    ".pq": _table,
    ".npz": _npz,
    ".npy": _npy,
    ".txt": _list,
    ".lst": _list,
}


@overload
def open_source(
    data: object,
    *,
    root: str | Path | None = ...,
    label: str | None = ...,
    split: None = ...,
    test: str | Path | None = ...,
    image: str | None = ...,
    columns: Sequence[str] | None = ...,
    class_names: Sequence[str] | None = ...,
    labels: LabelPolicy = ...,
    shape: tuple[int, ...] | None = ...,
    side: int | None = ...,
    below_label: int | None = ...,
    memory_limit: int = ...,
) -> Split: ...
@overload
def open_source(
    data: object,
    *,
    split: Literal["train", "test"],
    root: str | Path | None = ...,
    label: str | None = ...,
    test: str | Path | None = ...,
    image: str | None = ...,
    columns: Sequence[str] | None = ...,
    class_names: Sequence[str] | None = ...,
    labels: LabelPolicy = ...,
    shape: tuple[int, ...] | None = ...,
    side: int | None = ...,
    below_label: int | None = ...,
    memory_limit: int = ...,
) -> Dataset: ...
def open_source(
    data: object,
    *,
    root: str | Path | None = None,
    label: str | None = None,
    split: Literal["train", "test"] | None = None,
    test: str | Path | None = None,
    image: str | None = None,
    columns: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    labels: LabelPolicy = "required",
    shape: tuple[int, ...] | None = None,
    side: int | None = None,
    below_label: int | None = None,
    memory_limit: int = MEMORY_LIMIT,
) -> Split | Dataset:
    """Open a source of data, whatever its kind.

    Args:
        data: A built-in name (``digits``, ``mnist``, ``fashion-mnist``, ``cifar10``, ``cifar100``); a folder of class
            folders; a ``.csv``, ``.tsv``, ``.parquet``, ``.npz``, ``.npy`` or list (``.txt``) file; or, from Python, a
            pair of arrays ``(X, y)``, a :class:`Dataset`, a :class:`Split` or a map-style torch data set.
        root: The folder of a built-in set, or the one that image paths in a table or list start in.
        label: The label column of a table, or the file with the labels of an ``.npy``.
        split: ``"train"`` or ``"test"`` for that part alone; None for both.
        test: A second source of the same kind for testing, where the first has none of its own.
        image: The column of image paths in a table.
        columns: The features of a table, in this order; prediction passes the model's.
        class_names: The classes known from training; a label that is none of them is refused.
        labels: ``"required"`` for training and evaluation; ``"optional"`` takes them where there are any;
            ``"ignored"`` does not look.
        shape: The model's input shape; images are brought to it, anything else must have it.
        side: Ask for square images of this side.
        below_label: Keep labels below this number only (lists).
        memory_limit: Bytes of pixels up to which images are kept in memory.

    Example:
        >>> split = open_source("digits")
        >>> len(split.train), len(split.test), len(open_source("digits", split="test"))
        (1437, 360, 360)
    """
    names = None if class_names is None else tuple(class_names)
    options = _Options(
        root=None if root is None else Path(root),
        label=label,
        image=image,
        columns=columns,
        class_names=names,
        labels=labels,
        shape=shape,
        side=side,
        below_label=below_label,
        memory_limit=memory_limit,
    )
    opened = _open(data, options)
    if labels == "ignored":
        test_part = None if opened.test is None else _without_labels(opened.test, names)
        opened = Split(_without_labels(opened.train, names), test_part)
    elif names is not None:
        _check_names(opened.train, names)
    if test is not None:
        train = opened.train
        beside = open_source(
            test,
            root=root,
            label=label,
            image=image,
            columns=train.columns,
            class_names=train.class_names,
            shape=train.inputs.shape,
            below_label=below_label,
            memory_limit=memory_limit,
        )
        opened = Split(train, beside.train)
    for part in (opened.train, opened.test):
        if part is not None and shape is not None and part.inputs.shape != tuple(shape):
            raise InputError(
                f"{part.name}: the model takes inputs of shape {tuple(shape)}, these are {part.inputs.shape}"
            )
    if split is None:
        return opened
    if split == "train":
        return opened.train
    if opened.test is None:
        raise InputError(f"{opened.train.name}: the data has no test part; give one, or evaluate on other data")
    return opened.test


def _open(data: object, options: _Options) -> Split:
    if isinstance(data, Split):
        return data
    if isinstance(data, Dataset):
        return Split(data)
    if isinstance(data, tuple) and len(data) == 2:
        x, y = cast("tuple[Array, Array | None]", data)
        return Split(from_arrays(x, y, class_names=options.class_names, labels=options.labels))
    if not isinstance(data, str | os.PathLike):
        return Split(from_torch(data, class_names=options.class_names))
    written = os.fspath(data)
    if not written:
        raise InputError(f"the data has no name; give a file, a folder or one of {', '.join(BUILT_IN)}")
    if written in BUILT_IN:
        return _built_in(written, options.root)
    path = Path(written).expanduser()
    if path.is_dir():
        return load_folder(
            path,
            class_names=options.class_names,
            labels=options.labels,
            shape=options.shape,
            side=options.side,
            memory_limit=options.memory_limit,
        )
    if not path.exists():
        raise InputError(
            f"{written}: neither a file, a folder nor a built-in data set; {suggest(written, list(BUILT_IN))}"
        )
    suffix = path.suffix.lower()
    if suffix not in _FILES:
        raise InputError(
            f"{path}: a data file must end in {', '.join(_FILES)}, got {suffix or 'no ending'}; convert it"
        )
    return _FILES[suffix](path, options)


def _built_in(name: str, root: Path | None) -> Split:
    if root is None and name != "digits":
        raise InputError(
            f"{name}: where are its files? give their folder with --data-root, "
            f"or get them with `anchored data {name} --root FOLDER`"
        )
    return BUILT_IN[name](Path() if root is None else root)


def _without_labels(dataset: Dataset, names: tuple[str, ...] | None) -> Dataset:
    """The same inputs under no label, as sources give them that can tell whether labels are wanted."""
    labels = torch.full((len(dataset),), UNLABELLED)
    return replace(dataset, labels=labels, class_names=names or dataset.class_names, clean_labels=None)


def _check_names(dataset: Dataset, names: tuple[str, ...]) -> None:
    unseen = [name for name in dataset.class_names if name not in names]
    if unseen:
        raise InputError(
            f"{dataset.name}: class {unseen[0]!r} was not seen in training; {suggest(unseen[0], list(names))}"
        )
    if dataset.class_names != names:
        raise InputError(f"{dataset.name}: its classes {dataset.class_names} are not the model's {names}; rename them")

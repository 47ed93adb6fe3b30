"""From what a user writes to a data set: a built-in name, a file, a folder, arrays or a torch data set."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal, TypedDict, Unpack, cast, overload

import torch

from anchored._errors import InputError
from anchored._files import regular_size
from anchored._names import suggest
from anchored.data.arrays import Array, from_arrays, load_npy, load_npz
from anchored.data.cifar import load_cifar10, load_cifar100
from anchored.data.columns import text_columns
from anchored.data.dataset import UNLABELLED, Dataset, Split
from anchored.data.digits import load_digits
from anchored.data.folder import load_folder
from anchored.data.human import CIFAR10N, load_agnews, load_cifar10n
from anchored.data.idx import load_fashion_mnist, load_mnist
from anchored.data.labels import LabelPolicy
from anchored.data.listfile import LISTS, load_list
from anchored.data.read_columns import TABLES
from anchored.data.table import TableForm, load_table
from anchored.data.torch_dataset import from_torch

__all__ = ["BUILT_IN", "FILE_ENDINGS", "SourceOptions", "open_source"]

BUILT_IN: dict[str, Callable[[Path], Split]] = {
    "digits": lambda _root: load_digits(),
    "mnist": load_mnist,
    "fashion-mnist": load_fashion_mnist,
    "cifar10": load_cifar10,
    "cifar100": load_cifar100,
    **{f"cifar10n-{labels}": partial(load_cifar10n, labels=labels) for labels in CIFAR10N},
    "agnews": load_agnews,
}
"""The data sets that are known by name; all but ``digits`` are looked for below a root."""


_FILES: dict[str, Callable[..., Split]] = {
    **dict.fromkeys(TABLES, load_table),
    ".npz": load_npz,
    ".npy": load_npy,
    **dict.fromkeys(LISTS, load_list),
}


_FORMS: dict[str, TableForm] = {"images": "auto", "vectors": "vectors", "texts": "texts", "table": "table"}
FILE_ENDINGS = tuple(_FILES)
"""Endings of the files that are data."""


class SourceOptions(TypedDict, total=False):
    """How a source is to be read; each is explained at :func:`open_source`."""

    root: str | Path | None
    label: str | None
    image: str | None
    columns: Sequence[str] | None
    class_names: Sequence[str] | None
    labels: LabelPolicy
    shape: tuple[int, ...] | None
    any_size: bool
    side: int | None
    below_label: int | None
    memory_limit: int
    form: TableForm
    verbatim: Collection[str]


@overload
def open_source(
    data: object, *, split: None = None, test: str | Path | None = None, **options: Unpack[SourceOptions]
) -> Split: ...
@overload
def open_source(
    data: object, *, split: Literal["train", "test"], test: str | Path | None = None, **options: Unpack[SourceOptions]
) -> Dataset: ...
def open_source(
    data: object,
    *,
    split: Literal["train", "test"] | None = None,
    test: str | Path | None = None,
    **options: Unpack[SourceOptions],
) -> Split | Dataset:
    """Open a source of data, whatever its kind.

    Args:
        data: A built-in name (:data:`BUILT_IN`); a folder of class folders of images or texts; a table (``.csv``,
            ``.tsv``, ``.parquet``, ``.jsonl``, ``.xlsx``), arrays (``.npz``, ``.npy``) or a list (``.txt``); or, from
            Python, a pair of arrays ``(X, y)``, a :class:`Dataset`, a :class:`Split` or a map-style torch data set.
        split: ``"train"`` or ``"test"`` for that part alone; None for both.
        test: A second source of the same kind for testing, if the first has none of its own.
        **options: What the source needs to be told. A source ignores what does not concern it.

            - ``root``: the folder of a built-in set, or the one that image paths in a table or list start in;
            - ``label``: the label column of a table, or the file with the labels of an ``.npy``;
            - ``image``: the column of image paths in a table;
            - ``columns``: the features of a table, in this order; prediction passes the model's;
            - ``class_names``: the classes known from training; a label that is none of them is refused;
            - ``labels``: ``"required"`` (the default) for training and evaluation, ``"optional"`` to take them if there
              are any, ``"ignored"`` not to look;
            - ``shape``: the model's input shape; images are brought to it, anything else must have it;
            - ``any_size``: images of another size than ``shape`` will do, because an encoder resizes them;
            - ``side``: side of the squares to bring images to;
            - ``below_label``: keep only labels below this number (lists);
            - ``memory_limit``: bytes of pixels up to which images are kept in memory;
            - ``form``: what the rows of a table are wanted as, see :func:`load_table`;
            - ``verbatim``: columns of a table to keep as texts, as a model learnt them.

    Returns:
        Both parts, or the one asked for by ``split``.

    Raises:
        InputError: If there is no such source, it cannot be read, or it does not fit the model.

    Example:
        >>> split = open_source("digits")
        >>> len(split.train), len(split.test), len(open_source("digits", split="test"))
        (1437, 360, 360)
    """
    for option in options:
        if option not in SourceOptions.__annotations__:
            raise TypeError(f"open_source() got an unexpected keyword argument {option!r}")
    given = options.get("class_names")
    names = None if given is None else tuple(given)
    options["class_names"] = names
    labels, shape = options.get("labels", "required"), options.get("shape")
    opened = _open(data, options)
    if labels == "ignored":
        test_part = None if opened.test is None else _without_labels(opened.test, names)
        opened = Split(_without_labels(opened.train, names), test_part)
    elif names is not None:
        _check_names(opened.train, names)
    if test is not None:
        train = opened.train
        like_train = SourceOptions(
            columns=train.columns,
            class_names=train.class_names,
            labels="required",
            shape=train.inputs.shape,
            form=_FORMS[train.kind],
            verbatim=text_columns(train.inputs),
        )
        opened = Split(train, open_source(test, **(options | like_train)).train)
    for part in (opened.train, opened.test):
        if part is None or shape is None or (options.get("any_size") and part.is_image and len(shape) == 3):
            continue
        if part.inputs.shape != tuple(shape):
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


def _open(data: object, options: SourceOptions) -> Split:
    names = cast("tuple[str, ...] | None", options.get("class_names"))
    if isinstance(data, Split):
        return data
    if isinstance(data, Dataset):
        return Split(data)
    if isinstance(data, tuple) and len(data) == 2:
        x, y = cast("tuple[Array, Array | None]", data)
        return Split(
            from_arrays(
                x,
                y,
                class_names=names,
                labels=options.get("labels", "required"),
                form=options.get("form", "auto"),
            )
        )
    if not isinstance(data, str | os.PathLike):
        return Split(from_torch(data, class_names=names))
    written = os.fspath(data)
    if not written:
        raise InputError(f"the data has no name; give a file, a folder or one of {', '.join(BUILT_IN)}")
    if written in BUILT_IN:
        return _built_in(written, options.get("root"))
    path = Path(written).expanduser()
    if path.is_dir():
        return _read(load_folder, path, options)
    if not path.exists():
        raise InputError(
            f"{written}: neither a file, a folder nor a built-in data set; {suggest(written, list(BUILT_IN))}"
        )
    regular_size(path, way_out="give a file or a folder")
    suffix = path.suffix.lower()
    if suffix not in _FILES:
        raise InputError(
            f"{path}: a data file must end in {', '.join(_FILES)}, got {suffix or 'no ending'}; convert it"
        )
    return _read(_FILES[suffix], path, options)


def _read(loader: Callable[..., Split], path: Path, options: SourceOptions) -> Split:
    """What ``loader`` makes of ``path``, told those of the options that it knows."""
    known = inspect.signature(loader).parameters
    return loader(path, **{name: value for name, value in options.items() if name in known})


def _built_in(name: str, root: str | Path | None) -> Split:
    if root is None and name != "digits":
        raise InputError(
            f"{name}: where are its files? give their folder with --data-root, "
            f"or get them with `anchored data {name} --root FOLDER`"
        )
    return BUILT_IN[name](Path() if root is None else Path(root))


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

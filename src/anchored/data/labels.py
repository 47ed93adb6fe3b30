"""From what people write to 0..k-1: class names are kept verbatim, and a name unseen in training is refused.

Names that are all whole numbers are ordered as numbers (``"2"`` before ``"10"``), others as text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Sequence
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from anchored._errors import InputError
from anchored._names import suggest
from anchored.data.dataset import UNLABELLED, Dataset

__all__ = ["LabelPolicy", "check_classes", "encode_labels", "order_names", "review_classes", "review_if_trained_on"]

_UNSEEN = UNLABELLED - 1
_MANY_FRACTIONS = 20
_FEW_ROWS = 10

LabelPolicy = Literal["required", "optional", "ignored"]
"""What a source does about labels: training and evaluation require them, prediction may go without."""


def order_names(names: set[str]) -> tuple[str, ...]:
    """Put class names in order: as numbers if all are whole numbers, as text otherwise.

    Example:
        >>> order_names({"10", "2", "-1"}), order_names({"b", "a", "10"})
        (('-1', '2', '10'), ('10', 'a', 'b'))
    """
    try:
        return tuple(sorted(names, key=lambda name: (int(name), name)))
    except ValueError:
        return tuple(sorted(names))


def encode_labels(
    values: Sequence[str | None], class_names: tuple[str, ...] | None, *, where: Callable[[int], str]
) -> tuple[Tensor, tuple[str, ...]]:
    """Turn labels as people write them into numbers.

    Args:
        values: The label of each sample as text; None if it has none.
        class_names: The names known from training, or None to take them from ``values``.
        where: Names the file and row of sample ``i``, for the refusal of an unseen label.

    Returns:
        Labels ``(n,)`` int64, ``-1`` for none, and the class names they point into.

    Raises:
        InputError: If a label is none of ``class_names``.

    Example:
        >>> encode_labels(["cat", "dog", None, "cat"], None, where=str)
        (tensor([ 0,  1, -1,  0]), ('cat', 'dog'))
    """
    names = order_names({value for value in values if value is not None}) if class_names is None else class_names
    number: dict[str | None, int] = {None: UNLABELLED} | {name: i for i, name in enumerate(names)}
    codes = [number.get(value, _UNSEEN) for value in values]
    if _UNSEEN in codes:
        row = codes.index(_UNSEEN)
        unseen = str(values[row])
        raise InputError(f"{where(row)}: label {unseen!r} was not seen in training; {suggest(unseen, list(names))}")
    return torch.tensor(codes, dtype=torch.int64), names


def review_classes(dataset: Dataset, *, where: object = None) -> Dataset:
    """Note classes that are too small to learn.

    Args:
        dataset: The data to be trained on.
        where: The file or folder that a refusal names; by default the data set's name.

    Returns:
        ``dataset`` with further notes.

    Raises:
        InputError: If there are fewer than two classes.

    Example:
        >>> from anchored.data import TensorInputs
        >>> data = Dataset("toy", TensorInputs(torch.zeros(3, 2)), torch.tensor([0, 1, 1]), ("no", "yes"))
        >>> review_classes(data).notes
        ("one sample only of class 'no': its accuracy will say little",)
    """
    counts = dataset.counts
    _check_printable(dataset.class_names, where or dataset.name)
    present = [name for name, count in zip(dataset.class_names, counts.tolist(), strict=True) if count]
    if len(present) < 2:
        held = f"all {len(dataset)} samples are of class {present[0]!r}" if present else "no sample has a label"
        raise InputError(f"{where or dataset.name}: {held}; training needs at least two classes")
    notes = []
    for size, text in ((0, "no sample"), (1, "one sample only")):
        names = [name for name, count in zip(dataset.class_names, counts.tolist(), strict=True) if count == size]
        if names:
            shown = ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
            notes.append(f"{text} of class {shown}: its accuracy will say little")
    notes += _alike(dataset.class_names)
    return dataset.with_notes(*notes)


def _check_printable(names: Sequence[str], where: object) -> None:
    for name in names:
        if any(unicodedata.category(letter) == "Cc" and letter not in "\t\n\r" for letter in name):
            raise InputError(f"{where}: a class name may not hold control characters, got {name[:60]!r}; correct it")


def _alike(names: Sequence[str]) -> list[str]:
    """A note about names that a reader would take for one."""
    seen: dict[str, str] = {}
    pairs = []
    for name in names:
        other = seen.setdefault(" ".join(unicodedata.normalize("NFKC", name).casefold().split()), name)
        if other != name:
            pairs.append(f"{other!r} and {name!r}")
    if not pairs:
        return []
    more = f" (and {len(pairs) - 1} more such pairs)" if len(pairs) > 1 else ""
    return [
        f"classes {pairs[0]}{more} differ in the case of letters or in spaces only; rename one if they are the same"
    ]


def check_classes(cells: Sequence[str], *, where: str) -> None:
    """Refuse labels that are no classes: a continuous quantity, ids or free texts.

    Args:
        cells: The labels as text, one per sample that has one.
        where: The file and column or array, for a refusal.

    Raises:
        InputError: There are about as many different labels as samples, or more than twenty different fractions.

    Example:
        >>> check_classes(["no", "yes", "yes"], where="t.csv")
        >>> check_classes([f"id{i}" for i in range(12)], where="t.csv")
        Traceback (most recent call last):
        ...
        anchored._errors.InputError: t.csv: 12 different labels in 12 rows (such as 'id0', 'id1', 'id2') look like an \
id or a free text, not like classes; put them into groups, or name another column with --label COLUMN
    """
    distinct = dict.fromkeys(cells)
    numbers = _as_numbers(distinct)
    n, k = len(cells), len(distinct)
    shown = ", ".join(repr(cell[:60]) for cell in list(distinct)[:3])
    if numbers is not None and k > _MANY_FRACTIONS and bool((numbers != np.floor(numbers)).any()):
        raise InputError(
            f"{where}: the label is continuous ({k} different numbers such as {shown}), a classifier needs classes; "
            "put it into ranges, or name another column with --label COLUMN"
        )
    if n >= _FEW_ROWS and k > n / 2:
        what = "a count or an amount" if numbers is not None else "an id or a free text"
        raise InputError(
            f"{where}: {k} different labels in {n} rows (such as {shown}) look like {what}, not like classes; "
            "put them into groups, or name another column with --label COLUMN"
        )


def _as_numbers(texts: Collection[str]) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    try:
        values = np.array([float(text) for text in texts])
    except ValueError:
        return None
    return values if bool(np.isfinite(values).all()) else None


def review_if_trained_on(
    dataset: Dataset, class_names: tuple[str, ...] | None, labels: LabelPolicy, *, where: object
) -> Dataset:
    """Review the classes of a data set that is to be trained on; leave one to be predicted or evaluated as it is.

    Args:
        dataset: The data as it was read.
        class_names: The names known from training; None if the data is to be trained on.
        labels: Whether labels were needed.
        where: The file or folder that a refusal names.

    Returns:
        ``dataset``, with the notes of :func:`review_classes` if it is to be trained on.

    Example:
        >>> from anchored.data import TensorInputs
        >>> one = Dataset("toy", TensorInputs(torch.zeros(1, 2)), torch.tensor([0]), ("no", "yes"))
        >>> review_if_trained_on(one, ("no", "yes"), "required", where="toy.csv") is one
        True
    """
    return review_classes(dataset, where=where) if class_names is None and labels == "required" else dataset

"""From what people write to 0..k-1: class names are kept verbatim, and a name unseen in training is refused.

Names that are all whole numbers are ordered as numbers (``"2"`` before ``"10"``), others as text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored._names import suggest
from anchored.data.dataset import UNLABELLED, Dataset

__all__ = ["LabelPolicy", "encode_labels", "order_names", "review_classes"]

LabelPolicy = Literal["required", "optional", "ignored"]
"""What a source does about labels: training and evaluation require them, prediction may go without."""


def order_names(names: set[str]) -> tuple[str, ...]:
    """Class names in their order: as numbers when all are whole numbers, as text otherwise.

    Example:
        >>> order_names({"10", "2", "-1"}), order_names({"b", "a", "10"})
        (('-1', '2', '10'), ('10', 'a', 'b'))
    """
    try:
        return tuple(sorted(names, key=lambda name: (int(name), name)))
    except ValueError:
        return tuple(sorted(names))


def encode_labels(
    values: Sequence[str], class_names: tuple[str, ...] | None, *, where: Callable[[int], str]
) -> tuple[Tensor, tuple[str, ...]]:
    """Labels ``(n,)`` int64 and the class names they point into.

    Args:
        values: The label of each sample as text.
        class_names: The names known from training, or None to take them from ``values``.
        where: Names the file and row of sample ``i``, for the refusal of an unseen label.

    Example:
        >>> encode_labels(["cat", "dog", "cat"], None, where=str)
        (tensor([0, 1, 0]), ('cat', 'dog'))
    """
    names = order_names(set(values)) if class_names is None else class_names
    number = {name: i for i, name in enumerate(names)}
    codes = [number.get(value, UNLABELLED) for value in values]
    if class_names is not None and UNLABELLED in codes:
        row = codes.index(UNLABELLED)
        raise InputError(
            f"{where(row)}: label {values[row]!r} was not seen in training; {suggest(values[row], list(names))}"
        )
    return torch.tensor(codes, dtype=torch.int64), names


def review_classes(dataset: Dataset, *, where: object = None) -> Dataset:
    """``dataset`` with notes on classes too small to learn; refused when there is nothing to tell apart.

    ``where`` is the file or folder that a refusal names; by default the data set's name.
    """
    counts = dataset.counts
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
    return dataset.with_notes(*notes)

"""A data set is inputs with labels, and what they are called.

The labels are those that training is given, right or wrong. If the right ones are known (a run corrupted them itself,
or a benchmark has both), they stand beside, for evaluation only; nothing that trains may read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, overload

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored.data.inputs import Inputs
from anchored.data.text import TextInputs

__all__ = ["UNLABELLED", "Dataset", "RowIds", "Split"]

UNLABELLED = -1
"""The label of a sample that has none."""


class RowIds(Sequence[str]):
    """Names ``"row 0", "row 1", ...`` of samples that have no better one, written out only when asked for.

    Args:
        rows: Numbers ``(n,)`` of the rows.

    Example:
        >>> RowIds(torch.tensor([3, 17]))[1]
        'row 17'
    """

    def __init__(self, rows: Tensor) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> RowIds: ...
    def __getitem__(self, index: int | slice) -> str | RowIds:
        return RowIds(self.rows[index]) if isinstance(index, slice) else f"row {int(self.rows[index])}"

    def take(self, index: Tensor) -> RowIds:
        """Return the names at ``index``."""
        return RowIds(self.rows[index])


@dataclass(frozen=True, eq=False)
class Dataset:
    """n inputs, their labels in ``0..k-1`` and the names of both.

    Args:
        name: Name of the set, e.g. ``"mnist"`` or the folder's name.
        inputs: The images, vectors, texts or rows of a table.
        labels: ``(n,)`` int64 in ``0..k-1``, as training is given them; ``-1`` for none.
        class_names: One per class, verbatim.
        ids: What a user calls sample ``i``: a relative path, or ``"row 17"``.
        clean_labels: ``(n,)``, the right labels if they are known; for evaluation only.
        weights: ``(n,)``, how much each sample counts in training, or None if all count alike.
        confirmed: ``(n,)`` bool, which labels a person has looked at and stands for, or None if nobody has.
        original_labels: ``(n,)``, the labels before a person corrected any, or None if nobody has.
        columns: For tables, the names of the features in their order.
        notes: Remarks on the data for a careful reader, one line each.

    Raises:
        InputError: If the parts do not fit each other.

    Example:
        >>> from anchored.data import TensorInputs
        >>> data = Dataset("toy", TensorInputs(torch.zeros(3, 2)), torch.tensor([0, 1, 1]), ("no", "yes"))
        >>> len(data), data.k, data.counts.tolist(), data.ids[2]
        (3, 2, [1, 2], 'row 2')
    """

    name: str
    inputs: Inputs
    labels: Tensor
    class_names: tuple[str, ...]
    ids: Sequence[str] = ()
    clean_labels: Tensor | None = None
    weights: Tensor | None = None
    confirmed: Tensor | None = None
    original_labels: Tensor | None = None
    columns: tuple[str, ...] | None = None
    notes: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        n = len(self.inputs)
        if len(self.ids) == 0 and n > 0:
            object.__setattr__(self, "ids", RowIds(torch.arange(n)))
        for what, rows in (
            ("labels", self.labels),
            ("ids", self.ids),
            ("clean_labels", self.clean_labels),
            ("weights", self.weights),
            ("confirmed", self.confirmed),
            ("original_labels", self.original_labels),
        ):
            if rows is not None and len(rows) != n:
                raise InputError(f"{self.name}: {what} must have one entry per input, got {len(rows)} for {n} inputs")
        for what, labels in (
            ("labels", self.labels),
            ("clean_labels", self.clean_labels),
            ("original_labels", self.original_labels),
        ):
            if labels is None:
                continue
            if labels.ndim != 1 or labels.dtype != torch.int64:
                raise InputError(f"{self.name}: {what} must be (n,) int64, got {tuple(labels.shape)} {labels.dtype}")
            if n and (int(labels.min()) < UNLABELLED or int(labels.max()) >= self.k):
                raise InputError(
                    f"{self.name}: {what} must lie in 0..{self.k - 1}, or be -1 for none, "
                    f"got values from {int(labels.min())} to {int(labels.max())}"
                )
        if len(set(self.class_names)) != self.k:
            twice = next(name for name in self.class_names if self.class_names.count(name) > 1)
            raise InputError(f"{self.name}: class names must differ, got {twice!r} twice; rename one")

    def __len__(self) -> int:
        return len(self.inputs)

    @property
    def k(self) -> int:
        """Number of classes."""
        return len(self.class_names)

    @property
    def counts(self) -> Tensor:
        """Number of samples per class ``(k,)`` int64, by the labels given; samples without a label do not count."""
        return torch.bincount(self.labels[self.labels >= 0], minlength=self.k)

    @property
    def labelled(self) -> bool:
        """Whether every sample has a label."""
        return bool((self.labels >= 0).all())

    @property
    def kind(self) -> Literal["images", "vectors", "texts", "table"]:
        """What the inputs are; texts and tables have the shape ``()`` and must be encoded before training.

        Example:
            >>> from anchored.data import TextInputs
            >>> Dataset("reviews", TextInputs(["good", "bad"]), torch.tensor([1, 0]), ("no", "yes")).kind
            'texts'
        """
        if self.inputs.shape:
            return "images" if self.is_image else "vectors"
        return "texts" if isinstance(self.inputs, TextInputs) else "table"

    @property
    def is_image(self) -> bool:
        """Whether the inputs are images ``(c, h, w)``."""
        return len(self.inputs.shape) == 3

    def subset(self, index: Tensor) -> Dataset:
        """Return the samples at ``index`` in that order, with everything that belongs to them."""
        index = torch.as_tensor(index, dtype=torch.int64)
        ids = self.ids.take(index) if isinstance(self.ids, RowIds) else [self.ids[i] for i in index.tolist()]
        return replace(
            self,
            inputs=self.inputs.subset(index),
            labels=self.labels[index],
            ids=ids,
            clean_labels=None if self.clean_labels is None else self.clean_labels[index],
            weights=None if self.weights is None else self.weights[index],
            confirmed=None if self.confirmed is None else self.confirmed[index],
            original_labels=None if self.original_labels is None else self.original_labels[index],
        )

    def with_labels(self, labels: Tensor, *, clean_labels: Tensor | None = None) -> Dataset:
        """Return the same inputs under other labels.

        Args:
            labels: The new labels ``(n,)``.
            clean_labels: The right labels ``(n,)``; by default those that are kept already.

        Returns:
            A new data set; this one is not changed.

        Example:
            >>> from anchored.data import TensorInputs
            >>> data = Dataset("toy", TensorInputs(torch.zeros(2, 2)), torch.tensor([0, 1]), ("no", "yes"))
            >>> data.with_labels(torch.tensor([1, 1]), clean_labels=data.labels).labels
            tensor([1, 1])
        """
        return replace(self, labels=labels, clean_labels=self.clean_labels if clean_labels is None else clean_labels)

    def with_notes(self, *notes: str) -> Dataset:
        """Return the same data with further notes."""
        return replace(self, notes=(*self.notes, *notes)) if notes else self


@dataclass(frozen=True, eq=False)
class Split:
    """A training set, and a test set if the source has one."""

    train: Dataset
    test: Dataset | None = None

"""Any map-style torch data set: something with a length whose item ``i`` is an input and a label.

A ``TensorDataset`` is taken over as tensors. Everything else keeps its own way of making an item, random transforms
included, and is asked for each item whenever a batch needs it; its labels are read once, from ``targets`` if there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from anchored._errors import InputError
from anchored.data.arrays import as_label_names, from_arrays
from anchored.data.dataset import Dataset
from anchored.data.images import fit_image
from anchored.data.labels import encode_labels, review_classes

__all__ = ["TorchInputs", "from_torch"]


@runtime_checkable
class MapStyle(Protocol):
    """A data set with a length and items by number."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Any: ...  # noqa: ANN401  whatever the data set makes


def _as_tensor(value: object, where: str) -> Tensor:
    if isinstance(value, Image.Image):
        grey = value.mode in ("1", "L")
        return torch.from_numpy(fit_image(value.convert("L" if grey else "RGB"), value.height, value.width).copy())
    if isinstance(value, np.ndarray):
        value = torch.from_numpy(value)
    if not isinstance(value, Tensor) or value.ndim not in (1, 2, 3):
        shape = f" of shape {tuple(value.shape)}" if isinstance(value, Tensor) else ""
        raise InputError(
            f"{where}: an input must be an image or a vector, got {type(value).__name__}{shape}; add a transform"
        )
    value = value[None] if value.ndim == 2 else value
    return value if value.dtype == torch.uint8 and value.ndim == 3 else value.to(torch.float32)


class TorchInputs:
    """The inputs of a torch data set, made item by item when asked for.

    Args:
        dataset: A map-style data set whose items are pairs, all inputs of one shape.
        index: Which of its items, ``(n,)``; by default all.
    """

    def __init__(self, dataset: MapStyle, index: Tensor | None = None) -> None:
        self.dataset = dataset
        self.index = torch.arange(len(dataset)) if index is None else index
        self._shape = tuple(self._item(0).shape)

    def _item(self, i: int) -> Tensor:
        item = int(self.index[i])
        return _as_tensor(self.dataset[item][0], f"item {item}")

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        return self._shape

    @property
    def in_memory(self) -> bool:
        """Always, whatever the data set does: its code need not be safe to call from several threads."""
        return True

    def __len__(self) -> int:
        return len(self.index)

    def take(self, index: Tensor) -> Tensor:
        """Make the items at ``index`` and stack them to ``(b, *shape)``."""
        rows = []
        for i in index.tolist():
            row = self._item(i)
            if tuple(row.shape) != self._shape:
                raise InputError(
                    f"item {int(self.index[i])}: inputs must have one shape, got {tuple(row.shape)} "
                    f"after {self._shape}; add a transform that resizes them"
                )
            rows.append(row)
        return torch.stack(rows) if rows else torch.empty(0, *self._shape)

    def subset(self, index: Tensor) -> TorchInputs:
        """Return the items at ``index``."""
        return TorchInputs(self.dataset, self.index[index])


def from_torch(dataset: object, *, name: str = "dataset", class_names: tuple[str, ...] | None = None) -> Dataset:
    """Make a data set of a map-style torch one.

    Args:
        dataset: A ``TensorDataset``, or anything whose items are pairs (input, label).
        name: The name of the new data set.
        class_names: The names known from training, for data that is to be predicted or evaluated.

    Returns:
        The data set; items are made by the torch data set whenever a batch needs them.

    Raises:
        InputError: If the torch data set is empty, has no length or gives no pairs.

    Example:
        >>> from torch.utils.data import TensorDataset
        >>> data = from_torch(TensorDataset(torch.eye(4), torch.tensor([0, 1, 0, 1])))
        >>> data.k, data.inputs.shape
        (2, (4,))
    """
    if not isinstance(dataset, MapStyle):
        raise InputError(
            f"a torch data set must have a length and items, got {type(dataset).__name__}; "
            f"collect an iterable one into a list"
        )
    if len(dataset) == 0:
        raise InputError(f"{name}: the data set is empty")
    tensors = getattr(dataset, "tensors", None)
    if isinstance(tensors, tuple) and len(tensors) == 2:
        return from_arrays(tensors[0], tensors[1], name=name, class_names=class_names)
    given = _given_labels(dataset)
    known = getattr(dataset, "classes", None)
    if class_names is None and isinstance(known, Sequence) and all(text.isdigit() for text in given):
        # `classes` are the names of the numbers in `targets`, as torchvision has it.
        codes, names = torch.tensor([int(text) for text in given]), tuple(str(text) for text in known)
    else:
        codes, names = encode_labels(given, class_names, where=lambda row: f"item {row}")
    result = Dataset(name=name, inputs=TorchInputs(dataset), labels=codes, class_names=names)
    return review_classes(result) if class_names is None else result


def _given_labels(dataset: MapStyle) -> list[str]:
    targets = getattr(dataset, "targets", None)
    if targets is not None and len(targets) == len(dataset):
        return as_label_names(targets if isinstance(targets, Tensor) else np.asarray(targets), where="targets")
    labels = []
    for i in range(len(dataset)):
        item = dataset[i]
        if not isinstance(item, tuple | list) or len(item) != 2:
            raise InputError(f"item {i}: a data set must give pairs (input, label), got {type(item).__name__}")
        labels.append(item[1].item() if isinstance(item[1], Tensor) else item[1])
    return as_label_names(np.asarray(labels), where="labels")

"""Where pixels and features come from: anything that can hand over the rows of an index as one tensor.

A training step asks for ``inputs.take(index)`` and does not know whether the rows lie in memory
(:class:`TensorInputs`), on disk (:class:`~anchored.data.FileInputs`) or behind a torch data set
(:class:`~anchored.data.TorchInputs`). Texts (:class:`~anchored.data.TextInputs`) have no rows before they are encoded.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from anchored._errors import InputError

__all__ = ["Inputs", "TensorInputs"]


@runtime_checkable
class Inputs(Protocol):
    """n inputs of one shape.

    Attributes:
        shape: ``(c, h, w)`` for images, ``(d,)`` for vectors, as evaluation sees them; ``()`` for what must be encoded
            first (texts, rows of a table).
        in_memory: Whether rows are at hand. If not, batches are prepared ahead by worker threads.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        ...

    @property
    def in_memory(self) -> bool:
        """Whether rows are at hand. If not (files to be decoded), batches are prepared ahead by worker threads."""
        ...

    def __len__(self) -> int: ...

    def take(self, index: Tensor) -> Tensor:
        """Return rows ``(b, *shape)``: uint8 for images, floats for vectors. The same index gives the same rows."""
        ...

    def subset(self, index: Tensor) -> Inputs:
        """Return the inputs at ``index``, in that order."""
        ...


class TensorInputs:
    """Inputs that live in memory as one tensor, so that a batch is one gather.

    Args:
        tensor: ``(n, c, h, w)`` uint8 or float images, or ``(n, d)`` float vectors.

    Example:
        >>> inputs = TensorInputs(torch.eye(3))
        >>> inputs.take(torch.tensor([2, 0]))
        tensor([[0., 0., 1.],
                [1., 0., 0.]])
    """

    def __init__(self, tensor: Tensor) -> None:
        if tensor.ndim not in (2, 4):
            raise InputError(
                f"inputs must be vectors (n, d) or images (n, c, h, w), got shape {tuple(tensor.shape)}; reshape them"
            )
        if tensor.dtype != torch.uint8 and not tensor.dtype.is_floating_point:
            raise InputError(f"inputs must be uint8 images or floats, got {tensor.dtype}; convert them first")
        if tensor.ndim == 2 and tensor.dtype == torch.uint8:
            raise InputError("vectors must be floats, got torch.uint8; convert them, or give images as (n, c, h, w)")
        self.tensor = tensor.detach().contiguous()

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        return tuple(self.tensor.shape[1:])

    @property
    def in_memory(self) -> bool:
        """Always: the tensor is there."""
        return True

    def __len__(self) -> int:
        return self.tensor.shape[0]

    def take(self, index: Tensor) -> Tensor:
        """Return the rows ``(b, *shape)`` at ``index``."""
        return self.tensor.index_select(0, index.to(self.tensor.device))

    def subset(self, index: Tensor) -> TensorInputs:
        """Return a copy of the rows at ``index``."""
        return TensorInputs(self.take(index))

"""A batch: inputs ready for the network, their labels, and which samples they are."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

__all__ = ["Batch"]


@dataclass(frozen=True, slots=True)
class Batch:
    """Some samples of a data set, on the device that trains.

    Example:
        >>> import torch
        >>> len(Batch(torch.zeros(3, 2), torch.tensor([0, 1, 0]), torch.arange(3)))
        3
    """

    inputs: Tensor
    """Floats ``(b, ...)``."""
    labels: Tensor
    """Labels ``(b,)`` int64."""
    index: Tensor
    """Places ``(b,)`` of the samples in the data set, on the CPU."""

    def __len__(self) -> int:
        return len(self.labels)

"""What every method trains: a network with features, a head, and logits that are the head of the features.

In evaluation mode every network answers plain logits ``(n, k)``, whatever the method does in training: its
inference rule is part of the network, so saving, exporting and predicting need to know nothing of the method.
In training mode a network may answer a named tuple, of which one field is called ``logits``; the method's own
objective reads the others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeAlias

from torch import Tensor, nn

__all__ = ["Network", "Outputs", "logits_in"]

Outputs: TypeAlias = Any
"""Logits ``(n, k)``, or in training a named tuple of tensors with a field ``logits``, which no static type can say."""


class Network(nn.Module, ABC):
    """Inputs to logits by way of features.

    Attributes:
        input_shape: The shape of one normalised input.
        head: Maps features to logits; the part that the second stage of a decoupled method replaces.
    """

    input_shape: tuple[int, ...]
    head: nn.Module

    @abstractmethod
    def features(self, inputs: Tensor) -> Tensor:
        """Features ``(n, d)``: what the head sees."""

    def forward(self, inputs: Tensor) -> Outputs:
        """Logits ``(n, k)``; in training a method's own network may answer more, see the head of this file."""
        return self.head(self.features(inputs))

    def rows(self) -> Tensor | None:
        """One direction ``(k, d)`` per class, where logits are products with such; else None."""
        rows = getattr(self.head, "rows", None)
        return None if rows is None else rows()


def logits_in(outputs: Outputs) -> Tensor:
    """The logits ``(n, k)`` among what a network answered.

    Example:
        >>> import torch
        >>> logits_in(torch.zeros(2, 3)).shape
        torch.Size([2, 3])
    """
    logits: Tensor = outputs if isinstance(outputs, Tensor) else outputs.logits
    return logits

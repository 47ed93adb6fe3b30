r"""Several experts on one trunk: a branch and a head for each, and a weighted mean of their logits.

.. math::  \mathbf f(\mathbf x) = \sum_e a_e\, \mathbf v_e(\mathbf x), \qquad \sum_e a_e = 1 .

The weights are a buffer, all equal unless somebody sets others: they are saved with the network and no optimiser
reaches them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from anchored.backbones import Fork
from anchored.heads import Head
from anchored.methods.base import Network, Outputs

__all__ = ["ExpertHead", "ExpertLogits", "ExpertNetwork"]


class ExpertLogits(NamedTuple):
    """What an :class:`ExpertNetwork` answers in training."""

    logits: Tensor
    """Logits averaged over the experts, ``(n, k)``."""
    experts: Tensor
    """Logits of each expert, ``(n, e, k)``."""


class ExpertHead(nn.Module):
    """One head for each expert, on its part of the features, and a weighted mean of their logits.

    Args:
        experts: The heads, each for features ``(n, d)``.

    Shape:
        features ``(n, e d)``; out ``(n, k)``.

    Example:
        >>> from anchored import CosineHead
        >>> head = ExpertHead([CosineHead(8, 5) for _ in range(3)])
        >>> head(torch.ones(2, 24)).shape, head.of_each(torch.ones(2, 24)).shape
        (torch.Size([2, 5]), torch.Size([2, 3, 5]))
    """

    weights: Tensor
    """Weight of each expert, ``(e,)``, with sum one."""

    def __init__(self, experts: Sequence[Head]) -> None:
        super().__init__()
        self.experts = nn.ModuleList(experts)
        self.in_features = sum(expert.in_features for expert in experts)
        self.num_classes = experts[0].num_classes
        self.register_buffer("weights", torch.full((len(experts),), 1 / len(experts)))

    def of_each(self, features: Tensor) -> Tensor:
        """Compute the logits ``(n, e, k)`` of each expert."""
        parts = features.chunk(len(self.experts), dim=1)
        return torch.stack([expert(part) for expert, part in zip(self.experts, parts, strict=True)], dim=1)

    def mean(self, experts: Tensor) -> Tensor:
        r"""Compute the weighted mean :math:`\sum_e a_e \mathbf v_e`, ``(n, k)``, of logits ``(n, e, k)``."""
        return (self.weights[:, None] * experts).sum(dim=1)

    def forward(self, features: Tensor) -> Tensor:
        """Compute logits ``(n, k)``."""
        return self.mean(self.of_each(features))


class ExpertNetwork(Network):
    """A trunk, a branch and a head for each expert.

    Args:
        fork: The trunk and the experts' branches.
        head: Maps the features of all branches to logits.

    Shape:
        inputs ``(n, *input_shape)``; out ``(n, k)``, in training an :class:`ExpertLogits`.

    Example:
        >>> from anchored import CosineHead, backbones
        >>> three = [backbones.get("tiny", (8,), generator=torch.Generator().manual_seed(i)) for i in range(3)]
        >>> network = ExpertNetwork(Fork(three, "early"), ExpertHead([CosineHead(32, 5) for _ in three]))
        >>> network(torch.zeros(2, 8)).experts.shape, network.eval()(torch.zeros(2, 8)).shape
        (torch.Size([2, 3, 5]), torch.Size([2, 5]))
    """

    head: ExpertHead

    def __init__(self, fork: Fork, head: ExpertHead) -> None:
        super().__init__()
        self.input_shape = fork.input_shape
        self.fork = fork
        self.head = head

    def features(self, inputs: Tensor) -> Tensor:
        """Compute the features ``(n, e d)``, expert after expert."""
        return torch.cat(self.fork(inputs), dim=1)

    def forward(self, inputs: Tensor) -> Outputs:
        """Compute logits ``(n, k)``; in training also those of each expert."""
        features = self.features(inputs)
        if not self.training:
            return self.head(features)
        experts = self.head.of_each(features)
        return ExpertLogits(self.head.mean(experts), experts)

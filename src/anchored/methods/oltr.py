r"""OLTR: attention over pixels, a memory of class centroids that rare classes draw on, a squashed cosine classifier.

Stage one is plain training. Stage two trains everything on balanced batches, with

* **modulated attention** on the feature map x: self-attention, weighted by a softmax over the pixels and added to the
  map, :math:`x + \operatorname{softmax}(A x) \odot B \operatorname{SA}(x)`. B begins at zero, so features begin as
  they were;
* a **memory** of one centroid :math:`\mathbf c_j` per class, which begins at the mean of the class's features, and
  logits that draw on it: :class:`anchored.heads.MemoryHead`.

To cross entropy comes, with m the mean over batch and classes of squared distances to centroids of other classes,

.. math::  0.01 \bigl( \tfrac12 \lVert \mathbf v - \mathbf c_y \rVert^2 + 0.01 \max(0, 10 - m) \bigr) .

Centroids learn from this term only, by its plain gradient; the authors' code divides that of :math:`\mathbf c_j` by one
more than the number of samples of class j in the batch.

References:
    Liu, Miao, Zhan, Wang, Gong and Yu, 2019. Large-Scale Long-Tailed Recognition in an Open World. CVPR.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from anchored._checks import check_real
from anchored.backbones import OLTR, Backbone, build
from anchored.heads import LinearHead, MemoryHead
from anchored.losses import CrossEntropy
from anchored.methods.base import Classifier, Group, Network, Outputs, Procedure, Stage, StageData

__all__ = ["Attending", "MemoryLoss", "ModulatedAttention", "OpenLongTail", "Recalled"]


class ModulatedAttention(nn.Module):
    """Maps to maps of the same shape: self-attention, weighted pixel by pixel, on top of what came in.

    Args:
        channels: Of the maps.
        height: Of the maps.
        width: Of the maps.

    Shape:
        maps ``(n, channels, height, width)``; out the same.

    Example:
        >>> ModulatedAttention(4, 3, 3)(torch.zeros(2, 4, 3, 3)).shape
        torch.Size([2, 4, 3, 3])
    """

    def __init__(self, channels: int, height: int, width: int) -> None:
        super().__init__()
        inner = max(1, channels // 2)
        self.query = nn.Conv2d(channels, inner, 1)
        self.key = nn.Conv2d(channels, inner, 1)
        self.value = nn.Conv2d(channels, inner, 1)
        self.back = nn.Conv2d(inner, channels, 1, bias=False)
        self.spatial = nn.Linear(channels * height * width, height * width)

    def forward(self, maps: Tensor) -> Tensor:
        """``maps`` plus their weighted self-attention."""
        query, key, value = (layer(maps).flatten(2) for layer in (self.query, self.key, self.value))  # (n, c/2, pixels)
        attended = value @ (query.mT @ key).softmax(dim=2).mT
        inner = attended.unflatten(2, maps.shape[2:])
        weights = self.spatial(maps.flatten(1)).softmax(dim=1).unflatten(1, (1, *maps.shape[2:]))
        out: Tensor = maps + weights * self.back(inner)
        return out


class Recalled(NamedTuple):
    """What the network of the second stage answers in training."""

    logits: Tensor
    """``(n, k)``."""
    distances: Tensor
    """``(n, k)``: squared, from each feature to each centroid."""


class Attending(Classifier):
    """A classifier that may attend to the pixels of its backbone's maps; in the second stage it does."""

    backbone: Backbone

    def __init__(self, backbone: Backbone, head: nn.Module) -> None:
        super().__init__(backbone, head)
        self.attention: nn.Module = nn.Identity()

    def features(self, inputs: Tensor) -> Tensor:
        """Features ``(n, d)`` of the maps that were attended to."""
        return self.backbone.pooled(self.attention(self.backbone.feature_map(inputs)))

    def forward(self, inputs: Tensor) -> Outputs:
        """Logits ``(n, k)``; in training, where there is a memory, with the distances to its centroids."""
        features = self.features(inputs)
        logits = self.head(features)
        if not self.training or not isinstance(self.head, MemoryHead):
            return logits
        return Recalled(logits, self.head.distances(features))


class MemoryLoss:
    """Cross entropy, and a pull to one's own centroid and away from the others.

    Args:
        weight: Of the pull.
        repulsion: Of its second part, relative to the first.
        margin: The mean squared distance to the other centroids above which nothing pushes.

    Example:
        >>> import math
        >>> far = Recalled(torch.zeros(1, 2), torch.tensor([[4.0, 50.0]]))
        >>> MemoryLoss(weight=1.0).pointwise(far, torch.tensor([0])) - math.log(2)       # half of 4
        tensor([2.])
    """

    def __init__(self, *, weight: float = 0.01, repulsion: float = 0.01, margin: float = 10.0) -> None:
        self.entropy = CrossEntropy()
        self.weight, self.repulsion, self.margin = weight, repulsion, margin

    def pointwise(self, outputs: Recalled, labels: Tensor) -> Tensor:
        """Values ``(n,)``; the push is one number for the batch."""
        own = outputs.distances.gather(1, labels[:, None]).squeeze(1)
        others = (outputs.distances.sum() - own.sum()) / outputs.distances.numel()
        push = (self.margin - others).clamp_min(0)
        return self.entropy.pointwise(outputs.logits, labels) + self.weight * (own / 2 + self.repulsion * push)


class OpenLongTail(Procedure):
    """OLTR: a representation, then attention and memory on balanced batches."""

    title = "OLTR"
    about = "then attention, a memory of centroids and a cosine classifier on balanced batches"
    first_stage = "ce"
    goes_with = ()
    refused: ClassVar[Mapping[str, str]] = {"pal": "its classifier is its own"}
    corrects_imbalance = True
    second_epochs = 60

    @dataclass(frozen=True)
    class Options:
        """Settings of the second stage.

        Attributes:
            scale: Of the cosine classifier.
            reach: What is divided by the distance to the nearest centroid.
            memory_weight: Of the loss of the centroids.
            repulsion: Of its second part, relative to the first.
            margin: The mean squared distance to other centroids above which nothing pushes.
            feature_lr: Learning rate of backbone and attention, relative to that of the classifier.
            memory_lr: The same of the centroids.
        """

        scale: float = 16.0
        reach: float = 10.0
        memory_weight: float = 0.01
        repulsion: float = 0.01
        margin: float = 10.0
        feature_lr: float = 0.1
        memory_lr: float = 0.1

        def __post_init__(self) -> None:
            for name in ("scale", "reach"):
                check_real(name, getattr(self, name), low=0, closed="neither")
            for name in ("memory_weight", "repulsion", "margin", "feature_lr", "memory_lr"):
                check_real(name, getattr(self, name), low=0)

    def network(self) -> Network:
        """A linear classifier whose maps can be attended to."""
        backbone = self.context.backbone()
        return Attending(backbone, self.context.head(backbone.feature_dim))

    def stages(self) -> tuple[Stage, ...]:
        """Plain training, then everything again with attention and memory."""
        return self.representation(), self.memory()

    def memory(self) -> Stage:
        """The second stage."""
        options = self.options
        return Stage(
            name="memory",
            loss=MemoryLoss(weight=options.memory_weight, repulsion=options.repulsion, margin=options.margin),
            settings="second",
            sampling="balanced",
            enter=self.attend,
            fill=remember,
            groups=self.groups,
        )

    def attend(self, network: Network) -> None:
        """Put attention and memory in; the classifier of the first stage now asks the memory."""
        assert isinstance(network, Attending)
        assert isinstance(network.head, LinearHead)
        shape, generator = network.backbone.map_shape, self.context.generator("attention")
        attention = build(lambda: ModulatedAttention(*shape), OLTR, generator)
        nn.init.zeros_(attention.back.weight)
        network.attention = attention
        network.head = MemoryHead(
            network.head,
            scale=self.options.scale,
            reach=self.options.reach,
            generator=self.context.generator("second head"),
        )

    def groups(self, network: Network) -> list[Group]:
        """Features and centroids follow more slowly than the classifier."""
        assert isinstance(network, Attending)
        assert isinstance(network.head, MemoryHead)
        memory = network.head.centroids
        return [
            Group([*network.backbone.parameters(), *network.attention.parameters()], self.options.feature_lr),
            Group([parameter for parameter in network.head.parameters() if parameter is not memory]),
            Group([memory], self.options.memory_lr),
        ]


@torch.no_grad()
def remember(network: Network, data: StageData) -> None:
    """Begin the memory with the mean feature of each class."""
    assert isinstance(network.head, MemoryHead)
    seen = data.features("train")
    assert seen is not None, "there is always something to train on"
    features, labels = seen
    counts = labels.bincount(minlength=network.head.num_classes)
    sums = features.new_zeros(len(counts), features.shape[1]).index_add(0, labels, features)
    network.head.centroids.copy_(sums / counts[:, None])

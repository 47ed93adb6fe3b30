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
    r"""Adds self-attention, weighted pixel by pixel, to feature maps.

    .. math::  x + \operatorname{softmax}(A x) \odot B \operatorname{SA}(x)


    Args:
        channels: Number of channels of a map.
        height: Height of a map in pixels.
        width: Width of a map in pixels.

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
        """Compute ``maps`` plus their weighted self-attention."""
        query, key, value = (layer(maps).flatten(2) for layer in (self.query, self.key, self.value))  # (n, c/2, pixels)
        attended = value @ (query.mT @ key).softmax(dim=2).mT
        inner = attended.unflatten(2, maps.shape[2:])
        weights = self.spatial(maps.flatten(1)).softmax(dim=1).unflatten(1, (1, *maps.shape[2:]))
        out: Tensor = maps + weights * self.back(inner)
        return out


class Recalled(NamedTuple):
    """What the network answers in training in the second stage."""

    logits: Tensor
    """Logits ``(n, k)``."""
    distances: Tensor
    """Squared distances ``(n, k)`` of each feature to each centroid."""


class Attending(Classifier):
    """A classifier that attends to the pixels of its backbone's maps in the second stage.

    Args:
        backbone: Maps inputs to feature maps, and pools them.
        head: Maps features to logits ``(n, k)``.
    """

    backbone: Backbone

    def __init__(self, backbone: Backbone, head: nn.Module) -> None:
        super().__init__(backbone, head)
        self.attention: nn.Module = nn.Identity()

    def features(self, inputs: Tensor) -> Tensor:
        """Compute the features ``(n, d)`` of the maps after attention."""
        return self.backbone.pooled(self.attention(self.backbone.feature_map(inputs)))

    def forward(self, inputs: Tensor) -> Outputs:
        """Compute logits ``(n, k)``; in training, once there is a memory, also the distances to its centroids."""
        features = self.features(inputs)
        logits = self.head(features)
        if not self.training or not isinstance(self.head, MemoryHead):
            return logits
        return Recalled(logits, self.head.distances(features))


class MemoryLoss:
    r"""Cross entropy, a pull to one's own centroid and a push away from the others.

    With m the mean over batch and classes of squared distances to centroids of other classes,

    .. math::  \ell_{\mathrm{CE}} + w \bigl( \tfrac12 \lVert \mathbf v - \mathbf c_y \rVert^2
               + r \max(0, M - m) \bigr) .


    Args:
        weight: Weight of what is added to cross entropy.
        repulsion: Weight of the push away from other centroids, relative to the pull to one's own.
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
        """Compute one value per sample; the push is one number for the batch.

        Args:
            outputs: Logits and squared distances of the batch.
            labels: Labels ``(n,)``.

        Returns:
            Values ``(n,)``.
        """
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
            scale: Factor on the squashed cosines.
            reach: What is divided by the distance to the nearest centroid.
            memory_weight: Weight of what the centroids add to cross entropy.
            repulsion: Weight of the push away from other centroids, relative to the pull to one's own.
            margin: The mean squared distance to other centroids above which nothing pushes.
            feature_lr: Learning rate of backbone and attention, relative to that of the classifier.
            memory_lr: Learning rate of the centroids, relative to that of the classifier.
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
        """Build a linear classifier that can attend to maps later."""
        backbone = self.context.backbone()
        return Attending(backbone, self.context.head(backbone.feature_dim))

    def stages(self) -> tuple[Stage, ...]:
        """Return plain training, then training of everything with attention and memory."""
        return self.representation(), self.memory()

    def memory(self) -> Stage:
        """Return the second stage."""
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
        """Put in attention and memory; the classifier of the first stage then chooses from the memory."""
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
        """Return three groups: features and centroids learn more slowly than the classifier."""
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
    """Set the centroids to the mean feature of each class.

    Args:
        network: The network of the second stage; its memory is changed in place.
        data: Gives the training features.

    Example:
        >>> from types import SimpleNamespace
        >>> from anchored import backbones
        >>> network = Attending(backbones.get("tiny", (6,)), MemoryHead(LinearHead(32, 2)))
        >>> seen = torch.eye(32)[:3], torch.tensor([0, 0, 1])
        >>> remember(network, SimpleNamespace(features=lambda part: seen))
        >>> network.head.centroids[:, :3].tolist()
        [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    """
    assert isinstance(network.head, MemoryHead)
    seen = data.features("train")
    assert seen is not None, "there is always something to train on"
    features, labels = seen
    counts = labels.bincount(minlength=network.head.num_classes)
    sums = features.new_zeros(len(counts), features.shape[1]).index_add(0, labels, features)
    network.head.centroids.copy_(sums / counts[:, None])

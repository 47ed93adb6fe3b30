r"""The head of OLTR: a memory of class centroids that rare classes draw on, and a squashed cosine classifier.

The memory holds one centroid :math:`\mathbf c_j` per class. A feature v becomes its **meta-embedding** u, the shorter
the farther v is from all that was seen, and logits are squashed cosines of it:

.. math::  \mathbf u = \frac{10}{\min_j \lVert \mathbf v - \mathbf c_j \rVert}
           \bigl( \mathbf v + \tanh(W_s \mathbf v) \odot C^\top \operatorname{softmax}(W_h \mathbf v) \bigr), \qquad
           f_j = 16 \, \frac{\hat{\mathbf w}_j^\top \mathbf u}{1 + \lVert \mathbf u \rVert} .

References:
    Liu, Miao, Zhan, Wang, Gong and Yu, 2019. Large-Scale Long-Tailed Recognition in an Open World. CVPR.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from anchored._random import generator_or_default
from anchored.heads._logits import unit, without_autocast
from anchored.heads.linear import LinearHead

__all__ = ["MemoryHead"]

_NEAREST = 1e-3
"""The least distance to a centroid that is told from none: the only sample of a class lies on its own."""


class MemoryHead(nn.Module):
    r"""Logits of the meta-embedding of a feature.

    .. math::  \mathbf u = \frac{r}{\min_j \lVert \mathbf v - \mathbf c_j \rVert}
               \bigl( \mathbf v + \tanh(W_s \mathbf v) \odot C^\top \operatorname{softmax}(W_h \mathbf v) \bigr), \qquad
               f_j = s \, \frac{\hat{\mathbf w}_j^\top \mathbf u}{1 + \lVert \mathbf u \rVert} .

    Args:
        recall: Says what of the memory a feature brings to mind (W_h): the classifier of the first stage.
        scale: The factor s on the squashed cosines.
        reach: What is divided by the distance to the nearest centroid (r).
        generator: Where the weights are drawn from; None gives the same weights every time.

    Shape:
        features ``(n, d)``; out ``(n, k)``.

    Example:
        >>> MemoryHead(LinearHead(8, 3))(torch.ones(2, 8)).shape
        torch.Size([2, 3])
    """

    def __init__(
        self, recall: LinearHead, *, scale: float = 16.0, reach: float = 10.0, generator: torch.Generator | None = None
    ) -> None:
        super().__init__()
        generator = generator_or_default(generator)
        d, k = recall.in_features, recall.num_classes
        self.in_features, self.num_classes = d, k
        self.scale, self.reach = scale, reach
        self.recall = recall
        bound = 1 / math.sqrt(d)
        with torch.device("meta"):  # torch's own law, but drawn from the generator
            select = nn.Linear(d, d)
        self.select = select.to_empty(device="cpu")
        nn.init.kaiming_uniform_(self.select.weight, a=math.sqrt(5), generator=generator)
        nn.init.uniform_(self.select.bias, -bound, bound, generator=generator)
        self.weight = nn.Parameter(torch.empty(k, d).uniform_(-bound, bound, generator=generator))
        self.centroids = nn.Parameter(torch.zeros(k, d))

    def distances(self, features: Tensor) -> Tensor:
        """Compute the squared distances ``(n, k)`` of features ``(n, d)`` to the centroids, which may learn from it.

        Example:
            >>> head = MemoryHead(LinearHead(2, 3))              # all centroids begin at zero
            >>> head.distances(torch.tensor([[3.0, 4.0]])).tolist()
            [[25.0, 25.0, 25.0]]
        """
        with without_autocast(features.device):  # distances are differences of large numbers
            return _squared_distances(features.to(self.centroids.dtype), self.centroids)

    def embedding(self, features: Tensor) -> Tensor:
        """Compute the meta-embeddings ``(n, d)``; nothing made of them moves the centroids."""
        centroids = self.centroids.detach()
        nearest = _squared_distances(features, centroids).amin(dim=1, keepdim=True).clamp_min(_NEAREST**2).sqrt()
        memory = self.recall(features).softmax(dim=1) @ centroids
        infused: Tensor = self.select(features).tanh() * memory
        return self.reach / nearest * (features + infused)

    def forward(self, features: Tensor) -> Tensor:
        """Compute logits ``(n, k)``: cosines times a length that is squashed to below one."""
        with without_autocast(features.device):
            embedding = self.embedding(features.to(self.weight.dtype))
            length: Tensor = torch.linalg.vector_norm(embedding, dim=1, keepdim=True)
            return self.scale * F.linear(embedding / (1 + length), unit(self.weight))

    def extra_repr(self) -> str:
        """Show the sizes and settings."""
        sizes = f"in_features={self.in_features}, num_classes={self.num_classes}"
        return f"{sizes}, scale={self.scale:g}, reach={self.reach:g}"


def _squared_distances(features: Tensor, centroids: Tensor) -> Tensor:
    """``(n, k)``, between features ``(n, d)`` and centroids ``(k, d)``."""
    squares = features.square().sum(dim=1, keepdim=True) + centroids.square().sum(dim=1)
    return (squares - 2 * features @ centroids.T).clamp_min(0)

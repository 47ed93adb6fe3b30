r"""Learnable weight scaling: one factor per class on the logits of a classifier that is already trained.

.. math::  f_j(\mathbf z) = t_j \,(\mathbf w_j^\top \mathbf z + b_j), \qquad t_j = 1 \text{ at the start}.

After training on unbalanced data the rows of frequent classes are longer. Learning only the k factors, on balanced
batches, corrects the lengths and leaves the directions alone. MiSLAS trains the rows further at the same time.

References:
    Kang, Xie, Rohrbach, Yan, Gordo, Feng and Kalantidis, 2020. Decoupling Representation and Classifier for
    Long-Tailed Recognition. ICLR.
    Zhong, Cui, Liu and Jia, 2021. Improving Calibration for Long-Tailed Recognition. CVPR.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from anchored.heads._base import Head
from anchored.heads.linear import copy_of

__all__ = ["ScaledHead"]


class ScaledHead(Head):
    r"""A copy of a trained head with one learnable factor per class: :math:`f_j(\mathbf z) = t_j\, g_j(\mathbf z)`.

    Args:
        head: The head of the first stage, or a :class:`torch.nn.Linear`. It is copied and not changed.
        train_head: Whether the copy is trained along with the factors (MiSLAS) or frozen (LWS).

    Shape:
        features ``(..., d)``; out ``(..., k)``.

    Example:
        >>> import torch
        >>> head = ScaledHead(torch.nn.Linear(8, 3))
        >>> [name for name, p in head.named_parameters() if p.requires_grad]
        ['factors']
    """

    def __init__(self, head: Head | nn.Linear, *, train_head: bool = False) -> None:
        inner = copy_of(head)
        super().__init__(inner.in_features, inner.num_classes)
        self.train_head = bool(train_head)
        self.head = inner.requires_grad_(self.train_head)
        rows = inner.rows()
        self.factors = nn.Parameter(torch.ones(self.num_classes, dtype=rows.dtype, device=rows.device))

    def forward(self, features: Tensor) -> Tensor:
        """Return each class's logit times its factor."""
        logits: Tensor = self.head(features)
        return self.factors * logits

    @property
    def normalize(self) -> bool:
        """Whether the inner head sees only the direction of a feature vector."""
        return self.head.normalize

    def rows(self) -> Tensor:
        """Return the rows of the inner head, each times its factor, ``(k, d)``."""
        return self.factors[:, None] * self.head.rows()

    def offset(self) -> Tensor | None:
        """Return the offsets of the inner head, each times its factor, ``(k,)``, or None."""
        inner = self.head.offset()
        return None if inner is None else self.factors * inner

    def extra_repr(self) -> str:
        """Return the sizes, and whether the inner head is trained."""
        return f"{super().extra_repr()}, train_head={self.train_head}"

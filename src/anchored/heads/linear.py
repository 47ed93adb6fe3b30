r"""The linear head: the usual trained classifier, :math:`f(\mathbf z) = W \mathbf z + \mathbf b`."""

from __future__ import annotations

import copy
import math
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from anchored._errors import InputError
from anchored._random import generator_or_default
from anchored.heads._base import Head
from anchored.heads.anchored_conv import AnchoredConv

__all__ = ["LinearHead", "copy_of"]


class LinearHead(Head):
    r""":class:`torch.nn.Linear` as a head, :math:`f(\mathbf z) = W \mathbf z + \mathbf b`, drawn from a generator.

    Names and first distribution are those of torch.

    Args:
        in_features: Length d of a feature vector.
        num_classes: Number k of classes.
        bias: Whether to train an offset per class.
        generator: Source of the first weight and bias; None gives the same ones every time.

    Shape:
        features ``(..., d)``; out ``(..., k)``. Mixed types and autocast are treated as torch does.

    Example:
        >>> import torch
        >>> LinearHead(8, 3)(torch.zeros(4, 8)).shape
        torch.Size([4, 3])
    """

    bias: nn.Parameter | None

    def __init__(
        self, in_features: int, num_classes: int, *, bias: bool = True, generator: torch.Generator | None = None
    ) -> None:
        super().__init__(in_features, num_classes)
        source = generator_or_default(generator)
        bound = 1 / math.sqrt(self.in_features)
        weight = torch.empty(self.num_classes, self.in_features, device=source.device)
        self.weight = nn.Parameter(weight.uniform_(-bound, bound, generator=source))
        if bias:
            offset = torch.empty(self.num_classes, device=source.device)
            self.bias = nn.Parameter(offset.uniform_(-bound, bound, generator=source))
        else:
            self.register_parameter("bias", None)

    @classmethod
    def from_rows(cls, rows: Tensor, *, bias: Tensor | bool = True) -> Self:
        """Return a trainable head that starts at given rows, as the second stage after an anchored one does.

        Args:
            rows: First weight ``(k, d)``.
            bias: First offsets ``(k,)``; True starts them at zero, False leaves them out.

        Raises:
            InputError: If the shapes do not fit.

        Example:
            >>> from anchored.heads import AnchoredHead
            >>> first = AnchoredHead(8, 3, normalize=False)
            >>> second = LinearHead.from_rows(first.rows())
            >>> bool((second.weight == first.prototypes).all()), second.bias.tolist()
            (True, [0.0, 0.0, 0.0])
        """
        if rows.ndim != 2:
            raise InputError(f"rows must have shape (num_classes, in_features), got {tuple(rows.shape)}")
        k, d = rows.shape
        if isinstance(bias, Tensor) and bias.shape != (k,):
            raise InputError(f"bias must hold one offset per row, ({k},), got {tuple(bias.shape)}")
        head = cls(d, k, bias=bias is not False).to(rows.device, rows.dtype)
        with torch.no_grad():
            head.weight.copy_(rows)
            if head.bias is not None:
                head.bias.copy_(bias if isinstance(bias, Tensor) else torch.zeros_like(head.bias))
        return head

    def forward(self, features: Tensor) -> Tensor:
        """Return the products with the weight, plus the bias."""
        return F.linear(features, self.weight, self.bias)

    def rows(self) -> Tensor:
        """Return the weight itself, ``(k, d)``."""
        return self.weight

    def offset(self) -> Tensor | None:
        """Return the bias itself, ``(k,)``, or None."""
        return self.bias

    def extra_repr(self) -> str:
        """Return the sizes, and whether there is a bias."""
        return f"{super().extra_repr()}, bias={self.bias is not None}"


def copy_of(head: Head | nn.Linear) -> Head:
    """Return an independent head with the same logits, from a head or from torch's linear layer."""
    if isinstance(head, AnchoredConv):
        raise InputError("a second stage needs feature vectors, got an AnchoredConv; pool the features first")
    if isinstance(head, Head):
        return copy.deepcopy(head)
    if isinstance(head, nn.Linear):
        return LinearHead.from_rows(head.weight, bias=dict(head.named_parameters()).get("bias", False))
    raise InputError(f"head must be one of anchored.heads or a torch.nn.Linear, got {type(head).__name__}")

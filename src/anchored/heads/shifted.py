r"""A trained head with a constant per class added to its logits: how a prior is removed, or added, after training.

.. math::  f_j(\mathbf z) = g_j(\mathbf z) + c_j .

With :math:`c_j = -\tau \log \pi_j` this is post-hoc logit adjustment: a classifier trained by cross entropy learns
:math:`\log p(j \mid \mathbf z)` under the class frequencies :math:`\pi` of its training data, and subtracting
:math:`\log \pi_j` leaves the score of class j among classes that are equally frequent.

References:
    Menon, Jayasumana, Rawat, Jain, Veit and Kumar, 2021. Long-Tail Learning via Logit Adjustment. ICLR.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from anchored._errors import InputError
from anchored.heads._base import Head
from anchored.heads.linear import copy_of

__all__ = ["ShiftedHead"]


class ShiftedHead(Head):
    r"""A frozen copy of a trained head with a constant per class: :math:`f_j(\mathbf z) = g_j(\mathbf z) + c_j`.

    Args:
        head: The trained head, or a :class:`torch.nn.Linear`. It is copied and not changed.
        shift: The constants ``(k,)`` that are added to the logits.

    Shape:
        features ``(..., d)``; out ``(..., k)``.

    Example:
        >>> import torch
        >>> trained = torch.nn.Linear(8, 2)
        >>> prior = torch.tensor([0.9, 0.1])
        >>> fair = ShiftedHead(trained, -prior.log())
        >>> z = torch.zeros(1, 8)
        >>> torch.allclose((fair(z) - trained(z)).exp() * prior, torch.ones(1, 2))
        True
    """

    shift: Tensor

    def __init__(self, head: Head | nn.Linear, shift: Tensor) -> None:
        inner = copy_of(head)
        super().__init__(inner.in_features, inner.num_classes)
        given = torch.as_tensor(shift).detach()
        if given.shape != (self.num_classes,) or not bool(torch.isfinite(given).all()):
            raise InputError(
                f"shift must hold one finite number per class, ({self.num_classes},), "
                f"got {given.tolist() if given.ndim == 1 else tuple(given.shape)}; a class that never occurs has no "
                f"logarithm, so leave it out or count it as 1"
            )
        self.head = inner.requires_grad_(False)
        rows = inner.rows()
        self.register_buffer("shift", given.to(rows.device, rows.dtype, copy=True))

    def forward(self, features: Tensor) -> Tensor:
        """Return the logits of the inner head plus the constants."""
        logits: Tensor = self.head(features)
        return logits + self.shift

    @property
    def normalize(self) -> bool:
        """Whether the inner head sees only the direction of a feature vector."""
        return self.head.normalize

    def rows(self) -> Tensor:
        """Return the rows of the inner head, ``(k, d)``."""
        return self.head.rows()

    def offset(self) -> Tensor:
        """Return the constants, plus the offsets of the inner head if it has any, ``(k,)``."""
        inner = self.head.offset()
        return self.shift if inner is None else inner + self.shift

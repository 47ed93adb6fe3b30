r"""Losses that depend on the probability of the label alone: one scalar function of log p, whatever the label.

.. math::  \ell(\mathbf f, y) = \phi(\log p_y), \qquad \mathbf p = \operatorname{softmax}(\mathbf f).

The value at a label costs one log-softmax and a gather, as in ``F.cross_entropy``. Only the sum over
a row, which :class:`~anchored.losses.Normalized` divides by, needs phi at every class.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from anchored.losses._base import LabelledLogits, Loss, in_single_precision

__all__ = ["OwnProbability", "expm1"]


class OwnProbability(Loss):
    r"""A loss of the label's own log-probability: :math:`\ell(\mathbf f, y) = \phi(\log p_y)`.

    A subclass writes the function :math:`\phi`, and the function with its derivative. Arguments as for
    :class:`~anchored.losses.Loss`.

    Example:
        >>> import torch
        >>> class Brier(OwnProbability):
        ...     def value(self, log_p):
        ...         return torch.expm1(log_p).square()                     # (1 - p)^2
        ...     def value_and_slope(self, log_p):
        ...         return self.value(log_p), 2 * torch.expm1(log_p) * log_p.exp()
        >>> Brier()(torch.zeros(1, 4), torch.tensor([2]))                  # p = 1/4
        tensor(0.5625)
    """

    @abstractmethod
    def value(self, log_p: Tensor) -> Tensor:
        """Return phi, entry by entry, differentiable with finite slopes at ``log_p = 0`` and far below."""

    @abstractmethod
    def value_and_slope(self, log_p: Tensor) -> tuple[Tensor, Tensor]:
        """Return phi and its derivative, entry by entry, as new tensors; the two share their costly parts."""

    def per_class(self, logits: Tensor) -> Tensor:
        """Return values ``(n, k)``: phi of every log-probability."""
        return self.value(F.log_softmax(in_single_precision(logits), dim=1))

    def total(self, log_p: Tensor) -> Tensor:
        """Return the sum ``(n,)`` of phi over each row of log-probabilities ``(n, k)``."""
        if torch.compiler.is_compiling():
            return self.value(log_p).sum(dim=1)  # the compiler fuses this by itself
        if not (torch.is_grad_enabled() and log_p.requires_grad):
            return torch.cat([self.value(rows).sum(dim=1) for rows in _blocks(log_p)])
        total: Tensor = RowTotal.apply(log_p, self)[0]  # type: ignore[no-untyped-call]  # torch leaves apply untyped
        return total

    def _at(self, batch: LabelledLogits) -> Tensor:
        return self.value(batch.own_log_p)

    def _total(self, batch: LabelledLogits) -> Tensor:
        return self.total(batch.log_p)


def expm1(x: Tensor) -> Tensor:
    """Return ``exp(x) - 1``, with the derivative ``exp(x)``.

    ``torch.expm1`` keeps its result r and derives as r + 1, which is 0 from x = -17 on in float32: the loss of a
    small probability would no longer have a gradient. The difference below is 0, and has the right slope.
    """
    power = torch.exp(x)
    return torch.expm1(x).detach() + (power - power.detach())


class RowTotal(torch.autograd.Function):
    """The sum of phi over each row, ``sum_j phi(log p_j)``, computed a few rows at a time.

    With plain autograd, every step of phi keeps a tensor of the size of the logits, and most of the time
    goes into first touching that memory: at (4096, 10000) the normalised focal loss takes ten times as
    long as cross entropy. Here phi and its slope are computed together, in blocks that stay in the cache,
    and one tensor is kept: the slope.
    """

    @staticmethod
    def forward(log_p: Tensor, phi: OwnProbability) -> tuple[Tensor, Tensor]:
        """Return the sum of each row and the slopes for the backward pass.

        Args:
            log_p: Log-probabilities ``(n, k)``.
            phi: The loss whose function is summed.

        Returns:
            Sums ``(n,)`` and slopes ``(n, k)``.
        """
        total = log_p.new_empty(log_p.shape[0])
        slope = torch.empty_like(log_p)
        for rows, total_part, slope_part in zip(
            _blocks(log_p), _blocks(total, like=log_p), _blocks(slope), strict=True
        ):
            values, slopes = phi.value_and_slope(rows)
            torch.sum(values, dim=1, out=total_part)
            slope_part.copy_(slopes)
        return total, slope

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, OwnProbability], output: tuple[Tensor, Tensor]) -> None:  # noqa: ANN401  # torch leaves the context untyped
        """Keep the slopes, and the log-probabilities, which log-softmax keeps anyway."""
        log_p, ctx.phi = inputs
        ctx.mark_non_differentiable(output[1])
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(log_p, output[1])

    @staticmethod
    def backward(ctx: Any, grad: Tensor | None, _: None) -> tuple[Tensor | None, None]:  # noqa: ANN401  # as above
        """Return the slope times the gradient of the row's sum."""
        if grad is None:
            return None, None
        log_p, slope = ctx.saved_tensors
        if torch.is_grad_enabled():  # somebody wants the second derivative: the slope has to be a function again
            slope = ctx.phi.value_and_slope(log_p)[1]
        return grad[:, None] * slope, None


def _blocks(rows: Tensor, like: Tensor | None = None) -> tuple[Tensor, ...]:
    """Split ``rows`` into blocks of equal height, chosen to suit rows of ``like``."""
    matrix = rows if like is None else like
    # A quarter of a megabyte of float32, so that a block and its intermediates stay in the second-level cache
    # and the allocator reuses them: blocks of two megabytes take more than twice the time. On an accelerator
    # kernels are better large, and the blocks only bound the memory.
    entries = 1 << (16 if matrix.device.type == "cpu" else 24)
    return torch.split(rows, max(1, entries // max(1, matrix.shape[1])))

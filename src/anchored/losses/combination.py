r"""Sums of losses, each with a factor: what ``+`` and ``*`` build.

.. math::  \ell(\mathbf f, y) = \sum_i c_i\, \ell_i(\mathbf f, y), \qquad c_i \ge 0.

A sum is bounded or symmetric if all terms with a positive factor are. The pairs of an active and a
passive loss are sums of two: ``alpha * Normalized(CrossEntropy()) + beta * MeanAbsoluteError()``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import torch
from torch import Tensor, nn

from anchored._checks import check_real
from anchored._errors import InputError
from anchored.losses._base import LabelledLogits, Loss, Reduction, Weight

__all__ = ["Sum"]

T = TypeVar("T")


class Sum(Loss):
    r"""A weighted sum of losses: :math:`\ell(\mathbf f, y) = \sum_i c_i\, \ell_i(\mathbf f, y)` with :math:`c_i \ge 0`.

    All terms have one class weight, reduction and ignored label. They share the log-softmax of the logits, so a second
    loss of the label's own probability costs next to nothing.

    Args:
        losses: The terms; a term that is a sum is taken apart.
        factors: One factor per term, at least 0; all 1 by default.
        weight: As for :class:`~anchored.losses.Loss`. If one of these three options is not given, the terms must agree
            on it, and theirs is used.
        reduction: As for ``weight``.
        ignore_index: As for ``weight``.

    Shape:
        logits ``(n, k)``; target ``(n,)`` int64 or ``(n, k)`` probabilities; out ``()``.

    Example:
        >>> import torch
        >>> from anchored.losses import CrossEntropy, MeanAbsoluteError
        >>> (CrossEntropy() + 4 * MeanAbsoluteError())(torch.zeros(1, 4), torch.tensor([2]))      # log 4 + 3
        tensor(4.3863)
    """

    def __init__(
        self,
        *losses: Loss,
        factors: Sequence[float] | None = None,
        weight: Weight = None,
        reduction: Reduction | None = None,
        ignore_index: int | None = None,
    ) -> None:
        if not losses or not all(isinstance(loss, Loss) for loss in losses):
            raise InputError(f"a sum needs one loss or more, got {losses!r}; give objects such as CrossEntropy()")
        given = [1.0] * len(losses) if factors is None else list(factors)
        if len(given) != len(losses):
            raise InputError(f"factors must hold one number per loss, got {len(given)} for {len(losses)} losses")
        outer = [check_real("the factor of a loss", factor, low=0, closed="left") for factor in given]
        super().__init__(
            weight=_weight_of(losses) if weight is None else weight,
            reduction=_agreed("reduction", [loss.reduction for loss in losses]) if reduction is None else reduction,
            ignore_index=(
                _agreed("ignore_index", [loss.ignore_index for loss in losses])
                if ignore_index is None
                else ignore_index
            ),
        )
        terms = [
            (factor * inner, term) for factor, loss in zip(outer, losses, strict=True) for inner, term in _terms(loss)
        ]
        self.losses = nn.ModuleList(term for _, term in terms)
        self.factors = tuple(factor for factor, _ in terms)
        active = [term for factor, term in terms if factor > 0]
        self.symmetric = all(term.symmetric for term in active)
        self.bounded = all(term.bounded for term in active)
        self.shift_invariant = all(term.shift_invariant for term in active)
        self.nonnegative = all(term.nonnegative for term in active)

    def per_class(self, logits: Tensor) -> Tensor:
        """Return values ``(n, k)``: the rows of the terms, added."""
        return self._added([term.per_class(logits) for term in self._active()])

    def extra_repr(self) -> str:
        """Return the factors, and the options that differ from the defaults."""
        mine = f"factors={tuple(f'{factor:g}' for factor in self.factors)}".replace("'", "")
        return ", ".join(filter(None, [mine, super().extra_repr()]))

    def _at(self, batch: LabelledLogits) -> Tensor:
        return self._added([term._at(batch) for term in self._active()])

    def _over(self, logits: Tensor, mass: Tensor) -> Tensor:
        return self._added([term._over(logits, mass) for term in self._active()])

    def _total(self, batch: LabelledLogits) -> Tensor:
        return self._added([term._total(batch) for term in self._active()])

    def _active(self) -> list[Loss]:
        # A term with factor 0 is left out rather than multiplied: 0 * inf would be NaN. If all are 0, so is the sum.
        active = [term for term, factor in zip(self._typed(), self.factors, strict=True) if factor > 0]
        return active or self._typed()

    def _added(self, parts: list[Tensor]) -> Tensor:
        factors = [factor for factor in self.factors if factor > 0] or list(self.factors)
        result = factors[0] * parts[0]
        for factor, part in zip(factors[1:], parts[1:], strict=True):
            result = result + factor * part
        return result

    def _typed(self) -> list[Loss]:
        return [term for term in self.losses if isinstance(term, Loss)]


def _terms(loss: Loss) -> list[tuple[float, Loss]]:
    return list(zip(loss.factors, loss._typed(), strict=True)) if isinstance(loss, Sum) else [(1.0, loss)]


def _agreed(name: str, values: list[T]) -> T:
    if any(value != values[0] for value in values):
        raise InputError(f"the terms of a sum disagree on {name}: {values}; give it to the sum, Sum(..., {name}=...)")
    return values[0]


def _weight_of(losses: Sequence[Loss]) -> Tensor | None:
    weights = [loss.weight for loss in losses]
    first = weights[0]
    for other in weights[1:]:
        same = first is other or (first is not None and other is not None and torch.equal(first, other))
        if not same:
            raise InputError(
                "the terms of a sum disagree on weight; leave it out of the terms and give it to the sum, "
                "Sum(..., weight=...)"
            )
    return first

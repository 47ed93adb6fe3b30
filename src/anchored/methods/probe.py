r"""A regularised linear probe: ``probe``, multinomial logistic regression on standardised inputs.

.. math::  \min_{B, b} \; -\sum_i c_i \log p_{y_i}(x_i) + \tfrac12 \lambda \lVert B \rVert^2

The strength is the one whose cross-fitted probabilities make the given labels likeliest. Beside the closed form it is
the better linear model if there are many classes with few samples of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from anchored._checks import check_integer
from anchored._errors import InputError
from anchored.methods.closed_form import ClosedForm, ComputedHead, folds_of
from anchored.ridge import as_targets, fit_sharpness, log_likelihood

__all__ = ["LinearProbe", "ProbeHead"]

_STRENGTHS = (1e3, 1e2, 1e1, 1.0)
_MOST_STEPS = 60


class ProbeHead(ComputedHead):
    r"""A linear map of standardised features: :math:`((x - \mu) / \sigma) B + b`."""

    names: ClassVar[tuple[str, ...]] = ("mean", "inverse", "slope", "offset")
    mean: Tensor
    inverse: Tensor
    slope: Tensor
    offset: Tensor

    def forward(self, features: Tensor) -> Tensor:
        """Compute logits ``(n, k)`` of features ``(n, d)``."""
        return ((features.to(self.slope.dtype) - self.mean) * self.inverse) @ self.slope + self.offset

    def check(self) -> None:
        """Refuse tensors that do not fit together."""
        if self.slope.shape != (len(self.mean), len(self.offset)) or self.inverse.shape != self.mean.shape:
            raise InputError("the tensors of this linear probe do not fit together; train it again")


class LinearProbe(ClosedForm):
    """``probe``: a linear classifier with cross entropy, strength by cross-fitting."""

    title: ClassVar[str] = "Linear probe"
    about: ClassVar[str] = "logistic regression on standardised inputs, strength by cross-fitting"

    @dataclass(frozen=True)
    class Options:
        """Settings of the probe.

        Attributes:
            folds: Folds of the cross-fitting.
        """

        folds: int = 3

        def __post_init__(self) -> None:
            """Refuse numbers that cannot be."""
            check_integer("method.options.folds", self.folds, low=2)

    def blank_head(self) -> ComputedHead:
        """Make the head before its tensors are known."""
        return ProbeHead()

    def compute(self, rows: Tensor, labels: Tensor, weights: Tensor | None) -> tuple[Mapping[str, Tensor], Tensor]:
        """Fit the probe; arguments and result as in the base class."""
        k = self.context.k
        each = torch.ones(len(rows), dtype=torch.float64) if weights is None else weights.double()
        rows = rows.double()
        mean = rows.mean(dim=0)
        spread = (rows - mean).std(dim=0, correction=0)
        inverse = torch.where(spread > 1e-12 * (1 + mean.abs()), 1 / spread.clamp(min=1e-300), 0.0)
        x = (rows - mean) * inverse
        folds = folds_of(labels, self.options.folds, self.context.seed)
        left_out = {strength: torch.empty(len(x), k, dtype=torch.float64) for strength in _STRENGTHS}
        for fold in folds:
            seen = torch.ones(len(x), dtype=torch.bool)
            seen[torch.from_numpy(fold)] = False
            start: tuple[Tensor, Tensor] | None = None
            for strength in _STRENGTHS:  # from the smoothest on, each begins where the one before ended
                start = _logistic(x[seen], labels[seen], each[seen], k, strength, start)
                left_out[strength][~seen] = x[~seen] @ start[0] + start[1]
        targets, weight = as_targets(labels.numpy(), k), each.numpy()
        sharp = {s: fit_sharpness(logits.numpy(), targets, weight) for s, logits in left_out.items()}
        likely = {s: log_likelihood(sharp[s] * left_out[s].numpy(), targets, weight) for s in _STRENGTHS}
        best = max(likely, key=lambda strength: likely[strength])
        start = None
        for strength in _STRENGTHS[: _STRENGTHS.index(best) + 1]:
            start = _logistic(x, labels, each, k, strength, start)
        assert start is not None
        tensors = {"mean": mean, "inverse": inverse, "slope": sharp[best] * start[0], "offset": sharp[best] * start[1]}
        return tensors, sharp[best] * left_out[best]


def _logistic(
    x: Tensor, labels: Tensor, weights: Tensor, k: int, strength: float, start: tuple[Tensor, Tensor] | None
) -> tuple[Tensor, Tensor]:
    """Slope ``(d, k)`` and offset ``(k,)`` of penalised logistic regression, by L-BFGS."""
    slope = torch.zeros(x.shape[1], k, dtype=x.dtype) if start is None else start[0].clone()
    offset = torch.zeros(k, dtype=x.dtype) if start is None else start[1].clone()
    slope.requires_grad_(True)
    offset.requires_grad_(True)
    total = float(weights.sum())
    solver = torch.optim.LBFGS(
        [slope, offset], max_iter=_MOST_STEPS, tolerance_grad=1e-6, tolerance_change=1e-9,
        line_search_fn="strong_wolfe",
    )  # fmt: skip

    def closure() -> Tensor:
        solver.zero_grad()
        losses = torch.nn.functional.cross_entropy(x @ slope + offset, labels, reduction="none")
        value = ((weights * losses).sum() + 0.5 * strength * (slope**2).sum()) / total
        torch.autograd.backward(value)
        return value

    with torch.enable_grad():
        solver.step(closure)  # type: ignore[no-untyped-call]
    found = (slope.detach(), offset.detach())
    if not all(bool(np.isfinite(each.numpy()).all()) for each in found):
        raise InputError("logistic regression on these inputs does not converge; scale them, or use method ridge")
    return found

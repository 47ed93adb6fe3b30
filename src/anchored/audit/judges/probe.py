r"""Judge ``probe``: logistic regression with an L2 penalty, cross-fitted.

.. math::  \min_{B, b} \sum_i c_i \Bigl(-\sum_j P_{ij} \log\operatorname{softmax}(B^\top x_i + b)_j\Bigr)
           + \tfrac12 \lambda N \lVert B \rVert^2

on standardised features, where N is the weight of all samples. Each fold is judged by a model of the other folds; the
strength is that under which the given labels of the left-out folds are likeliest. Strong penalties are tried first, and
each fit starts from the one before.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from anchored.audit.judges.base import Vectors
from anchored.audit.judges.folds import folds_of
from anchored.ridge import as_targets, fit_sharpness, log_likelihood

__all__ = ["probe"]

_FOLDS = 4
_STRENGTHS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003)
"""Penalties in units of the mean loss, from strong to weak; the search stops once weaker ones predict worse."""
_MOST_STEPS = 40
_TOLERANCE = 1e-5


def probe(vectors: Vectors) -> Tensor:
    """Judge by cross-fitted logistic regression.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> y = torch.arange(300) % 3
        >>> X = 3 * torch.eye(3)[y] + torch.randn(300, 3, generator=generator)
        >>> bool((probe(Vectors.check(X, y, 3)).argmax(dim=1) == y).double().mean() > 0.9)
        True
    """
    rows, fold = vectors.standardised, folds_of(vectors, _FOLDS)
    targets = as_targets(vectors.labels.numpy(), vectors.k)
    each = vectors.each.numpy()
    fits = [_Fit(rows, vectors, fold != number) for number in range(_FOLDS)]
    best, chosen = -math.inf, torch.zeros(len(vectors), vectors.k, dtype=torch.float64)
    for strength in _STRENGTHS:
        logits = torch.empty_like(chosen)
        for number, fit in enumerate(fits):
            out = fold == number
            logits[out] = fit.solve(strength, rows[out])
        plain = (logits - logits.mean(dim=1, keepdim=True)).numpy()
        score = log_likelihood(fit_sharpness(plain, targets, each) * plain, targets, each)
        if score < best:
            break
        best, chosen = score, logits
    return chosen


class _Fit:
    """One fold's model, fitted with weaker and weaker penalties."""

    def __init__(self, rows: Tensor, vectors: Vectors, kept: Tensor) -> None:
        kept = kept & (vectors.each > 0)
        self.rows = rows[kept]
        self.targets = vectors.learnt[kept].to(torch.float32)
        weight = vectors.each[kept]
        self.weight = (weight / weight.sum().clamp(min=1e-300)).to(torch.float32)
        self.slope = torch.zeros(rows.shape[1] + 1, vectors.k)

    def solve(self, strength: float, asked: Tensor) -> Tensor:
        """Fit with one penalty, starting from the last solution, and answer for other samples."""
        if len(self.rows):
            self._descend(strength)
        return (asked @ self.slope[:-1] + self.slope[-1]).to(torch.float64)

    def _descend(self, strength: float) -> None:
        slope = self.slope.clone().requires_grad_()
        optimizer = torch.optim.LBFGS(
            [slope],
            max_iter=_MOST_STEPS,
            history_size=8,
            tolerance_grad=_TOLERANCE,
            tolerance_change=_TOLERANCE**2,
            line_search_fn="strong_wolfe",
        )

        def closure() -> Tensor:
            logits = self.rows @ slope[:-1] + slope[-1]
            fit = -(logits.log_softmax(dim=1) * self.targets).sum(dim=1) @ self.weight
            value = fit + 0.5 * strength * slope[:-1].square().sum()
            (slope.grad,) = torch.autograd.grad(value, [slope])
            return value.detach()

        with torch.enable_grad():
            optimizer.step(closure)  # type: ignore[no-untyped-call]
        self.slope = slope.detach()

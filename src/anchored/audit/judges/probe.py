r"""Judge ``probe``: logistic regression with an L2 penalty, cross-fitted.

.. math::  \min_{B, b} \sum_i c_i \Bigl(-\sum_j P_{ij} \log\operatorname{softmax}(B^\top x_i + b)_j\Bigr)
           + \tfrac12 \lambda N \lVert B \rVert^2

on standardised features (their 256 largest principal axes, if they are more), where N is the weight of all samples.
Each fold is judged by a model of the other folds; the strength is that under which the given labels of one fold are
likeliest. Strong penalties are tried first, and each fit starts from the one before.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import torch
from scipy.optimize import minimize
from torch import Tensor

from anchored.audit.judges.base import AXES, Vectors
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
    if rows.shape[1] > AXES:
        rows = vectors.principal[1]
    targets = as_targets(vectors.labels.numpy(), vectors.k)
    each = vectors.each.numpy()
    chosen_on = int(fold.bincount(minlength=_FOLDS).argmax())  # copies stay together, so a fold may be empty
    here = fold == chosen_on
    first, own = _Fit(rows, vectors, ~here), targets[here.numpy()]
    weight = each[here.numpy()] if each[here.numpy()].any() else None
    best, chosen, found = -math.inf, _STRENGTHS[0], torch.zeros(len(vectors), vectors.k, dtype=torch.float64)
    for strength in _STRENGTHS:
        logits = first.solve(strength, rows[here])
        plain = (logits - logits.mean(dim=1, keepdim=True)).numpy()
        score = log_likelihood(fit_sharpness(plain, own, weight) * plain, own, weight)
        if score < best:
            break
        best, chosen, found[here] = score, strength, logits
    for number in set(range(_FOLDS)) - {chosen_on}:
        found[fold == number] = _Fit(rows, vectors, fold != number).solve(chosen, rows[fold == number])
    return found


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
        shape = self.slope.shape

        def value(flat: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
            slope = torch.from_numpy(flat).to(torch.float32).view(shape)
            logs = (self.rows @ slope[:-1] + slope[-1]).log_softmax(dim=1)
            left = (logs.exp() - self.targets) * self.weight[:, None]
            gradient = torch.cat([self.rows.T @ left + strength * slope[:-1], left.sum(dim=0, keepdim=True)])
            fit = -float((logs * self.targets).sum(dim=1) @ self.weight)
            penalty = 0.5 * strength * float(slope[:-1].square().sum())
            return fit + penalty, gradient.flatten().double().numpy()

        start = self.slope.flatten().double().numpy()
        found = minimize(
            value,
            start,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": _MOST_STEPS, "gtol": _TOLERANCE, "ftol": 0.1 * _TOLERANCE},
        )
        self.slope = torch.from_numpy(found.x).to(torch.float32).view(shape)

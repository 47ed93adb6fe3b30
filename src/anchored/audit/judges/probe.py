r"""Judge ``probe``: logistic regression with an L2 penalty, cross-fitted.

Each fold is judged by a model of the other folds; the strength is that under which the given labels of one fold are
likeliest. Strong penalties are tried first, and each fit starts from the one before.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from anchored.audit.judges.base import AXES, Vectors
from anchored.audit.judges.folds import folds_of
from anchored.methods.logistic import STRENGTHS, LogisticFit
from anchored.ridge import as_targets, fit_sharpness, log_likelihood

__all__ = ["probe"]

_FOLDS = 4


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
    first, own = LogisticFit(rows, vectors.learnt, vectors.each * ~here), targets[here.numpy()]
    weight = each[here.numpy()] if each[here.numpy()].any() else None
    best, chosen, found = -math.inf, STRENGTHS[0], torch.zeros(len(vectors), vectors.k, dtype=torch.float64)
    for strength in STRENGTHS:
        first.solve(strength)
        logits = first.answer(rows[here])
        plain = (logits - logits.mean(dim=1, keepdim=True)).numpy()
        score = log_likelihood(fit_sharpness(plain, own, weight) * plain, own, weight)
        if score < best:
            break
        best, chosen, found[here] = score, strength, logits
    for number in set(range(_FOLDS)) - {chosen_on}:
        model = LogisticFit(rows, vectors.learnt, vectors.each * (fold != number))
        model.solve(chosen)
        found[fold == number] = model.answer(rows[fold == number])
    return found

"""Judge ``boosted``: gradient-boosted trees, cross-fitted, for tables of a few columns.

Trees see interactions and thresholds that neither least squares nor cosines see. Four folds; the number of trees is
that under which the given labels of the left-out folds are likeliest.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from anchored._random import seed_of
from anchored.audit.judges.base import Vectors
from anchored.audit.judges.folds import folds_of
from anchored.ridge import as_targets, fit_sharpness, log_likelihood

__all__ = ["boosted"]

_FOLDS = 4
_TREES, _EVERY = 60, 10
_WEIGHTED_BINS = 32
_LEAST = 1e-6
"""Probabilities below this are as good as this: a few trees cannot know more."""


def boosted(vectors: Vectors) -> Tensor:
    """Judge by cross-fitted gradient boosting on the given labels.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> X = torch.rand(600, 2, generator=generator)
        >>> y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)).long()                # no line separates the two classes
        >>> bool((boosted(Vectors.check(X, y, 2)).argmax(dim=1) == y).double().mean() > 0.9)
        True
    """
    rows, fold = vectors.X.to(torch.float64).numpy(), folds_of(vectors, _FOLDS).numpy()
    labels, weight = vectors.labels.numpy(), vectors.each.numpy()
    stages = _TREES // _EVERY
    found = np.full((stages, len(vectors), vectors.k), math.log(_LEAST))
    for number in range(_FOLDS):
        out = np.flatnonzero(fold == number)
        kept = np.flatnonzero((fold != number) & (weight > 0))
        if len(out):
            _one_fold(rows, labels, weight, kept, out, seed_of(vectors.seed, "boosted", number), found)
    targets = as_targets(labels, vectors.k)
    best, chosen = -math.inf, found[0]
    for logits in found:
        plain = logits - logits.mean(axis=1, keepdims=True)
        score = log_likelihood(fit_sharpness(plain, targets, weight) * plain, targets, weight)
        if score > best:
            best, chosen = score, logits
    return torch.from_numpy(chosen)


def _one_fold(
    rows: npt.NDArray[Any],
    labels: npt.NDArray[Any],
    weight: npt.NDArray[Any],
    kept: npt.NDArray[Any],
    out: npt.NDArray[Any],
    seed: int,
    found: npt.NDArray[Any],
) -> None:
    """Fit on ``kept``, and write log-probabilities of the samples ``out`` after every ten trees into ``found``."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    classes = np.unique(labels[kept])
    if len(classes) < 2:
        return
    model = HistGradientBoostingClassifier(
        max_iter=_TREES, learning_rate=0.1, max_leaf_nodes=15, l2_regularization=1.0, early_stopping=False,
        random_state=seed % 2**31,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Weights make scikit-learn find its bins one by one, which takes longer than all trees.
        equal = bool((weight[kept] == weight[kept][0]).all())
        model.set_params(max_bins=255 if equal else _WEIGHTED_BINS)
        model.fit(rows[kept], labels[kept], sample_weight=None if equal else weight[kept])
        for number, shares in enumerate(model.staged_predict_proba(rows[out])):
            if (number + 1) % _EVERY == 0:
                found[(number + 1) // _EVERY - 1][np.ix_(out, classes)] = np.log(np.maximum(shares, _LEAST))

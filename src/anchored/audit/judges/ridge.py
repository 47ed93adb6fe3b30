r"""Judge ``ridge``: anchored least squares with exact leave-one-out answers.

.. math::  f_{-i}(x_i) = W\,\frac{\hat w_i - h_{ii} w_{\tilde y_i}}{1 - h_{ii}}

(:mod:`anchored.ridge`): no folds, no seed, and every sample is judged by the model of all the others.
"""

from __future__ import annotations

import torch
from torch import Tensor

from anchored.audit.judges.base import Vectors
from anchored.ridge import fit_ridge

__all__ = ["balanced_ridge", "closed_form", "ridge"]


def ridge(vectors: Vectors) -> Tensor:
    """Judge by linear anchored least squares, leave-one-out.

    Example:
        >>> X = torch.tensor([[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]])
        >>> rows = Vectors.check(X, torch.tensor([0, 0, 1, 1, 1, 1]), 2)
        >>> ridge(rows).argmax(dim=1).tolist()              # the third label is the odd one
        [0, 0, 0, 1, 1, 1]
    """
    return closed_form(vectors, kernel=None)


def balanced_ridge(vectors: Vectors) -> Tensor:
    r"""Judge by linear anchored least squares in which all classes weigh the same, for classes of very unequal sizes.

    The logits are moved by :math:`\log \pi_j`, the shares of the given labels, back to the classes' real sizes.
    """
    shares = vectors.learnt.T @ vectors.each
    shares = shares.clamp(min=0.5) / shares.sum()
    return closed_form(vectors, kernel=None, class_weight="balanced") + shares.log()


def closed_form(
    vectors: Vectors, *, kernel: str | None, class_weight: str | None = None, landmarks: int = 1000
) -> Tensor:
    """Return leave-one-out logits ``(n, k)`` of all samples; those of weight zero are asked of the whole model.

    Args:
        vectors: The samples.
        kernel: None for a linear model, ``"rbf"`` for a Gaussian kernel.
        class_weight: None, or ``"balanced"`` for the same total weight of every class.
        landmarks: Most landmarks of the kernel.
    """
    model = fit_ridge(
        vectors.X,
        vectors.labels,
        vectors.k,
        kernel=kernel,
        weights=vectors.weights,
        class_weight=class_weight,
        landmarks=landmarks,
    )
    if model.gamma is not None:
        vectors.found["gamma"] = model.gamma
    if vectors.weights is None or bool((vectors.weights > 0).all()):
        return model.loo_logits
    unused = vectors.weights == 0
    logits = torch.empty(len(vectors), vectors.k, dtype=torch.float64)
    logits[~unused], logits[unused] = model.loo_logits, model.logits(vectors.X[unused])
    return logits

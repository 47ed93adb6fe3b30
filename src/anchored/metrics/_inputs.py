"""Checks of what a metric is given: scores ``(n, k)`` or predictions ``(n,)``, and the truth.

The truth is labels ``(n,)`` or, if it is known in part only, the probabilities ``(n, k)`` of each sample's true
class. A prediction then counts as right with the probability of its class, and all numbers become expected values.
"""

from __future__ import annotations

import torch
from torch import Tensor

from anchored._checks import check_labels
from anchored._errors import InputError

__all__ = ["checked_predictions", "checked_scores", "checked_target", "checked_truth", "share_right"]


def checked_scores(scores: Tensor, *, name: str = "scores") -> Tensor:
    """Return ``scores`` as real numbers ``(n, k)`` without NaN, with ``n >= 1`` and ``k >= 2``.

    Args:
        scores: Logits, probabilities or other scores.
        name: How the error message calls them.
    """
    scores = torch.as_tensor(scores).detach()
    if scores.ndim != 2 or scores.shape[1] < 2:
        raise InputError(f"{name} must be (n, k) with k >= 2 classes, got shape {tuple(scores.shape)}")
    if scores.shape[0] == 0:
        raise InputError(f"{name} must hold at least one sample, got shape {tuple(scores.shape)}")
    if not scores.is_floating_point():
        raise InputError(f"{name} must be real numbers, got {scores.dtype}; pass predicted labels as one column (n,)")
    if bool(scores.isnan().any()):
        rows = int(scores.isnan().any(dim=1).sum())
        raise InputError(f"{name} must not be NaN, got NaN in {rows} of {scores.shape[0]} rows; the model has diverged")
    return scores


def checked_target(target: Tensor, n: int, k: int | None) -> Tensor:
    """Return true labels ``(n,)`` in ``0..k-1`` as int64.

    Args:
        target: The labels as given.
        n: Number of samples.
        k: Number of classes, or None for any.
    """
    target = check_labels(target, k, name="target")
    if target.numel() != n:
        raise InputError(f"target must hold one label per sample, got {target.numel()} labels for {n} samples")
    return target


def checked_truth(target: Tensor, n: int, k: int | None) -> Tensor:
    """Return true labels ``(n,)`` in ``0..k-1``, or their probabilities ``(n, k)`` as float64.

    Args:
        target: The labels or probabilities as given.
        n: Number of samples.
        k: Number of classes, or None for any.
    """
    target = torch.as_tensor(target)
    if target.ndim != 2:
        return checked_target(target, n, k)
    if target.shape[0] != n or (k is not None and target.shape[1] != k):
        raise InputError(
            f"target must hold one label, or one row of probabilities, per sample: "
            f"got {tuple(target.shape)} for {n} samples{'' if k is None else f' of {k} classes'}"
        )
    target = target.detach().to(torch.float64)
    off = (target.sum(dim=1) - 1).abs()
    if not bool((target >= 0).all()) or not bool((off <= 1e-3).all()):
        raise InputError("target (n, k) must hold probabilities: non-negative, with rows that sum to 1")
    return target


def share_right(predictions: Tensor, target: Tensor) -> Tensor:
    """Return how far each prediction is right: 0 or 1 by labels, the probability of the predicted class otherwise.

    Args:
        predictions: Predicted labels ``(n,)``.
        target: True labels ``(n,)``, or their probabilities ``(n, k)``.

    Returns:
        Shares ``(n,)``, float64.

    Example:
        >>> share_right(torch.tensor([0, 1]), torch.tensor([0, 0]))
        tensor([1., 0.], dtype=torch.float64)
    """
    if target.ndim == 2:
        return target.gather(1, predictions[:, None]).squeeze(1)
    return (predictions == target).to(torch.float64)


def checked_predictions(scores: Tensor, target: Tensor, k: int | None) -> tuple[Tensor, Tensor, int]:
    """Return predictions, truth and number of classes, from scores or predictions.

    The class of the largest score is predicted, the first one if several are equal. The number of classes
    comes from the scores; for predictions it is one more than the largest label seen, unless ``k`` is given.

    Args:
        scores: Scores ``(n, k)`` or predictions ``(n,)``.
        target: True labels ``(n,)``, or their probabilities ``(n, k)``.
        k: Number of classes, or None to find it.

    Returns:
        Predictions ``(n,)``, the truth as :func:`checked_truth` gives it, and the number of classes.
    """
    scores = torch.as_tensor(scores)
    if scores.ndim == 2:
        scores = checked_scores(scores)
        if k is not None and k != scores.shape[1]:
            raise InputError(f"scores must have one column per class, got {scores.shape[1]} columns for k = {k}")
        k = scores.shape[1]
        predictions = scores.argmax(dim=1)
    else:
        predictions = check_labels(scores, k, name="predictions")
        if predictions.numel() == 0:
            raise InputError("predictions must hold at least one sample, got none")
    target = checked_truth(target, predictions.numel(), k).to(predictions.device)
    if target.ndim == 2:
        k = target.shape[1]
        check_labels(predictions, k, name="predictions")
    if k is None:
        k = 1 + max(int(predictions.max()), int(target.max()))
    return predictions, target, k

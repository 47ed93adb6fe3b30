"""What a metric is given: scores ``(n, k)`` or predictions ``(n,)``, against labels ``(n,)``."""

from __future__ import annotations

import torch
from torch import Tensor

from anchored._checks import check_labels
from anchored._errors import InputError

__all__ = ["checked_predictions", "checked_scores", "checked_target"]


def checked_scores(scores: Tensor, *, name: str = "scores") -> Tensor:
    """Real-valued ``(n, k)`` without NaN, n >= 1, k >= 2."""
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
    """True labels ``(n,)`` in ``0..k-1``."""
    target = check_labels(target, k, name="target")
    if target.numel() != n:
        raise InputError(f"target must hold one label per sample, got {target.numel()} labels for {n} samples")
    return target


def checked_predictions(scores: Tensor, target: Tensor, k: int | None) -> tuple[Tensor, Tensor, int]:
    """Predictions ``(n,)``, labels ``(n,)`` and the number of classes, from scores or predictions.

    The class of the largest score is predicted, the first one where several are equal. ``k`` is
    taken from the scores; for predictions it is one more than the largest label seen, unless given.
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
    target = checked_target(target, predictions.numel(), k).to(predictions.device)
    if k is None:
        k = 1 + max(int(predictions.max()), int(target.max()))
    return predictions, target, k

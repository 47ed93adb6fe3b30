"""The final numbers of a model on a data set: right, fair, honest, well separated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch.nn.functional as F
from torch import Tensor

from anchored import metrics

__all__ = ["cosine_margins", "scores"]


def scores(
    logits: Tensor, labels: Tensor, *, temperature: float = 1.0, counts: Sequence[int] | None = None
) -> dict[str, Any]:
    """Accuracy, per class and by how often a class was seen in training; calibration before and after.

    Args:
        logits: ``(n, k)``, not yet divided by the temperature.
        labels: ``(n,)``, the true ones where they are known; or the probabilities ``(n, k)`` of the true ones.
        temperature: The model's.
        counts: Training samples per class, for many / medium / few.

    Example:
        >>> import torch
        >>> numbers = scores(torch.tensor([[2.0, 0.0], [0.0, 1.0]]), torch.tensor([0, 1]))
        >>> numbers["accuracy"], numbers["per_class"]
        (1.0, [1.0, 1.0])
    """
    k = logits.shape[1]
    before, after = logits.double().softmax(dim=1), (logits.double() / temperature).softmax(dim=1)
    result: dict[str, Any] = {
        "n": len(labels),
        "accuracy": metrics.accuracy(logits, labels),
        "per_class": list(metrics.per_class_accuracy(logits, labels, k)),
        "nll": float(F.cross_entropy(logits.double() / temperature, labels)),
        "ece": metrics.ece(after, labels),
        "ece_uncalibrated": metrics.ece(before, labels),
    }
    if counts is not None:
        shot = metrics.shot_accuracy(logits, labels, counts)
        result |= {"many": shot.many, "medium": shot.medium, "few": shot.few}
    return result


def cosine_margins(features: Tensor, rows: Tensor, labels: Tensor) -> dict[str, float]:
    """The sample margins of directions: comparable between heads, at most k/(k-1) on a simplex.

    Args:
        features: ``(n, d)``.
        rows: ``(k, d)``, one direction per class.
        labels: ``(n,)``.

    Example:
        >>> import torch
        >>> corners = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
        >>> cosine_margins(5 * corners, corners, torch.tensor([0, 1]))
        {'gamma_min': 2.0, 'gamma_mean': 2.0}
    """
    cosines = F.normalize(features.double(), dim=1) @ F.normalize(rows.double(), dim=1).T
    margins = metrics.sample_margins(cosines, labels)
    return {"gamma_min": float(margins.min()), "gamma_mean": float(margins.mean())}

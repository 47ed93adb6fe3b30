"""The final numbers of a model on a data set: accuracy by class and group, likelihood, calibration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch.nn.functional as F
from torch import Tensor

from anchored.metrics._accuracy import accuracy, per_class_accuracy
from anchored.metrics._calibration import ece
from anchored.metrics._shot_accuracy import shot_accuracy

__all__ = ["scores"]


def scores(
    logits: Tensor, labels: Tensor, *, temperature: float = 1.0, counts: Sequence[int] | None = None
) -> dict[str, Any]:
    """Compute the final numbers of a model: accuracy, per class and by group, and calibration before and after.

    The likelihood ``nll = -mean(log softmax(logits / temperature)[y])`` and ``ece`` are those of the calibrated
    probabilities; ``ece_uncalibrated`` is that of ``softmax(logits)``.

    Args:
        logits: Logits ``(n, k)``, not yet divided by the temperature.
        labels: Labels ``(n,)``, the true ones if they are known; or the probabilities ``(n, k)`` of the true ones.
        temperature: Temperature of the model.
        counts: Training samples per class, for many / medium / few; None leaves these three out.

    Returns:
        ``n``, ``accuracy``, ``per_class``, ``nll``, ``ece``, ``ece_uncalibrated``, and with counts ``many``, ``medium``
        and ``few``: plain numbers, ``None`` for a class or group without samples.

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
        "accuracy": accuracy(logits, labels),
        "per_class": list(per_class_accuracy(logits, labels, k)),
        "nll": float(F.cross_entropy(logits.double() / temperature, labels)),
        "ece": ece(after, labels),
        "ece_uncalibrated": ece(before, labels),
    }
    if counts is not None:
        shot = shot_accuracy(logits, labels, counts)
        result |= {"many": shot.many, "medium": shot.medium, "few": shot.few}
    return result

r"""Calibration of a judge by one temperature, and its score: how likely it makes labels that it did not see."""

from __future__ import annotations

import torch
from torch import Tensor

from anchored.audit.judges.base import Opinion, Vectors
from anchored.ridge import as_targets, fit_sharpness

__all__ = ["calibrated", "opinion_of"]


def calibrated(logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
    r"""Return log-probabilities :math:`\log\operatorname{softmax}(f/T)` with the temperature of largest likelihood.

    Args:
        logits: ``(n, k)`` of any scale, of models that did not see the sample's label.
        labels: Given labels ``(n,)``.
        weights: ``(n,)``; None for one each.

    Returns:
        ``(n, k)`` float64. If the logits say nothing about the labels, all classes are equally likely.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> y = torch.randint(3, (2000,), generator=generator)
        >>> f = torch.nn.functional.one_hot(y, 3) + torch.randn(2000, 3, generator=generator)
        >>> torch.allclose(calibrated(f, y), calibrated(100 * f, y), atol=1e-6)      # the scale does not matter
        True
    """
    rows = logits.to(torch.float64)
    rows = rows - rows.mean(dim=1, keepdim=True)
    each = None if weights is None else weights.to(torch.float64).numpy()
    sharpness = fit_sharpness(rows.numpy(), as_targets(labels.numpy(), rows.shape[1]), each)
    return (sharpness * rows).log_softmax(dim=1)


def opinion_of(name: str, logits: Tensor, vectors: Vectors, *, seconds: float = 0.0) -> Opinion:
    """Calibrate a judge's logits and score them by the given labels.

    Args:
        name: Name of the judge.
        logits: Its answer ``(n, k)``.
        vectors: The samples with the labels given.
        seconds: How long it took.

    Returns:
        The opinion, not weighted yet.
    """
    found = calibrated(logits, vectors.labels, vectors.weights)
    return scored(name, found, vectors.labels, vectors.each, seconds=seconds)


def scored(name: str, found: Tensor, labels: Tensor, each: Tensor, *, seconds: float = 0.0) -> Opinion:
    """Return an opinion from log-probabilities ``(n, k)`` that need no calibration any more."""
    given = found.gather(1, labels[:, None])[:, 0]
    right = (found.argmax(dim=1) == labels).to(torch.float64)
    total = each.sum()
    return Opinion(name, found, float(each @ given / total), float(each @ right / total), None, seconds)

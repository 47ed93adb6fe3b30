r"""One sharpness makes leave-one-out logits into honest probabilities, and their likelihood judges a model.

.. math::  \beta = \arg\max_{\beta \ge 0} \sum_i c_i \Bigl(\beta\, \tilde f_i - \log\sum_j e^{\beta f_{ij}}\Bigr),
           \qquad \tilde f_i = (1 - \varepsilon) \sum_j P_{ij} f_{ij} + \frac{\varepsilon}{k} \sum_j f_{ij}.

The objective is concave in the sharpness :math:`\beta = 1/T`, so Newton's method finds its maximum wherever it lies: no
grid can be too narrow for ten thousand classes, whose logits are small. The share :math:`\varepsilon = 1/(N+2)` is
Laplace's rule of
succession: even if no label is contradicted, N of them do not show more certainty than one mistake in N + 2 allows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from anchored.ridge.rows import Array
from anchored.ridge.sums import Targets, entries_of

__all__ = ["fit_sharpness", "given_logits", "log_likelihood", "log_normalizer"]

_MOST_STEPS, _TOLERANCE = 100, 1e-9
_ENTRIES = 2**21
_BLOCK = 2**18
"""Numbers that are worked on at a time: they stay in the cache of a processor."""
_LEAST, _LARGEST = 1e-9, 1e9
"""Bounds of the sharpness, for logits of unit size."""


def given_logits(logits: Array, targets: Targets) -> Array:
    r"""Return each sample's mean logit under its target, :math:`\sum_j P_{ij} f_{ij}`: for a label, the label's logit.

    Args:
        logits: ``(n, k)``.
        targets: ``(n, k)`` class probabilities, CSR.

    Returns:
        Values ``(n,)``.

    Example:
        >>> from anchored.ridge.sums import as_targets
        >>> given_logits(np.array([[1.0, 3.0], [5.0, 2.0]]), as_targets(np.array([1, 0]), 2)).tolist()
        [3.0, 5.0]
    """
    rows, classes, shares = entries_of(targets)
    values = np.bincount(rows, weights=shares * logits[rows, classes], minlength=len(logits))
    return values.astype(np.float64, copy=False)


def log_normalizer(logits: Array) -> Array:
    r"""Return :math:`\log\sum_j e^{f_{ij}}` of each row ``(n,)``."""
    normalizer = np.empty(len(logits))
    for start, stop in _blocks(logits):
        part = logits[start:stop]
        top = part.max(axis=1)
        normalizer[start:stop] = top + np.log(np.exp(part - top[:, None]).sum(axis=1))
    return normalizer


def _blocks(values: Array) -> Iterator[tuple[int, int]]:
    """Yield the bounds of blocks of rows; what is computed of each row alone does not depend on them."""
    step = max(1, _BLOCK // values.shape[1])
    for start in range(0, len(values), step):
        yield start, min(len(values), start + step)


def log_likelihood(logits: Array, targets: Targets, weights: Array | None = None) -> float:
    r"""Return the mean log-probability of the targets.

    .. math::  \frac1N\sum_i c_i \sum_j P_{ij} \log \operatorname{softmax}(f_i)_j

    Args:
        logits: Calibrated logits ``(n, k)``.
        targets: ``(n, k)`` class probabilities, CSR.
        weights: ``(n,)``; None for one each.

    Example:
        >>> from anchored.ridge.sums import as_targets
        >>> round(log_likelihood(np.zeros((3, 4)), as_targets(np.array([0, 1, 3]), 4)), 4)     # -log 4
        -1.3863
    """
    values = given_logits(logits, targets) - log_normalizer(logits)
    return float(np.average(values, weights=weights))


def fit_sharpness(
    logits: Array, targets: Targets, weights: Array | None = None, *, start: float | None = None
) -> float:
    """Find the sharpness 1/T under which the targets are likeliest; the objective is at the head of this file.

    Args:
        logits: ``(n, k)`` of models that did not see the targets, of any scale.
        targets: ``(n, k)`` class probabilities, CSR.
        weights: ``(n,)``; None for one each.
        start: Where to begin, e.g. the answer for a similar model.

    Returns:
        The sharpness, positive and finite; close to zero if the logits say nothing about the targets.

    Example:
        >>> from anchored.ridge.sums import as_targets
        >>> rng = np.random.default_rng(0)
        >>> y = rng.integers(3, size=4000)
        >>> f = 0.01 * rng.normal(size=(4000, 3)) + 0.03 * np.eye(3)[y]
        >>> 270 < fit_sharpness(f, as_targets(y, 3)) < 330                       # Bayes: 0.03 / 0.01 ** 2
        True
    """
    size = float(np.sqrt(np.mean(logits**2))) or 1.0
    low, high = _LEAST / size, _LARGEST / size
    each = np.ones(len(logits)) if weights is None else weights
    smooth = 1.0 / (float(each.sum()) + 2.0)
    # Softmax ignores a shift of a row; below zero its exponentials cannot overflow.
    below = logits - logits.max(axis=1, keepdims=True)
    wanted = float(each @ ((1 - smooth) * given_logits(below, targets) + smooth * below.mean(axis=1)))
    sharpness = min(max(1.0 / size if start is None else start, low), high)
    for _ in range(_MOST_STEPS):
        mean, curvature = _moments(below, each, sharpness)
        slope = wanted - mean
        low, high = (sharpness, high) if slope > 0 else (low, sharpness)
        aim = sharpness + slope / curvature if curvature > 0 else np.inf
        if abs(aim - sharpness) <= _TOLERANCE * sharpness or high - low <= _TOLERANCE * high:
            break
        # Newton's step in the logarithm of the sharpness would overshoot; outside the bracket, take its geometric
        # middle.
        sharpness = aim if low < aim < high else float(np.sqrt(low * high))
    return float(sharpness)


def _moments(below: Array, each: Array, sharpness: float) -> tuple[float, float]:
    """Return the sums of mean and variance of logits that are at most 0 under ``softmax(sharpness * logits)``."""
    first, spread = np.empty((2, len(below)))
    for start, stop in _blocks(below):
        part = below[start:stop]
        p = np.exp(sharpness * part)
        total = p.sum(axis=1)
        p *= part
        first[start:stop] = p.sum(axis=1) / total
        second = np.einsum("ij,ij->i", p, part) / total
        spread[start:stop] = np.maximum(second - first[start:stop] ** 2, 0.0)
    mean = variance = 0.0
    step = max(1, _ENTRIES // below.shape[1])  # the order in which numbers are added up decides their last digits
    for start in range(0, len(below), step):
        mean += float(each[start : start + step] @ first[start : start + step])
        variance += float(each[start : start + step] @ spread[start : start + step])
    return mean, variance

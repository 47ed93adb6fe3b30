r"""Several judges become one: a weighted mean of their log-probabilities.

.. math::  \log p(j \mid x) = \sum_m v_m \ell_m(j \mid x) - \log Z(x), \qquad
           v = \arg\max_{v \ge 0} \sum_i c_i \log p(\tilde y_i \mid x_i).

Every judge's answer for a sample was made without its label, so the likelihood of the given labels is an honest score,
and with a handful of weights there is next to nothing to overfit. The objective is concave: the maximum is unique up to
judges that say the same. A judge that adds nothing gets weight zero. The weights that are reported sum to one; their
sum is a temperature, since judges that agree for different reasons are surer together than each alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import torch
from scipy.optimize import minimize
from torch import Tensor

from anchored._errors import InputError
from anchored.audit.judges.base import Opinion

__all__ = ["combine"]

_MOST_SAMPLES = 20_000
"""Samples on which the weights are found; a few weights need no more."""
_PULL = 1e-4
"""Nats per sample and unit of squared weight: decides between judges that say the same."""


def combine(
    opinions: Sequence[Opinion], labels: Tensor, weights: Tensor | None = None
) -> tuple[Tensor, tuple[Opinion, ...]]:
    """Find the weights under which the given labels are likeliest; the objective is at the head of this file.

    Args:
        opinions: Calibrated opinions about the same samples.
        labels: Given labels ``(n,)``.
        weights: ``(n,)``; None for one each.

    Returns:
        Combined log-probabilities ``(n, k)``, and the opinions with their weights, which sum to one.

    Raises:
        InputError: If there is no opinion, or they are not about the same samples.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> y = torch.randint(3, (2000,), generator=generator)
        >>> def judge(size):
        ...     f = size * torch.nn.functional.one_hot(y, 3).double() + torch.randn(2000, 3, generator=generator)
        ...     return Opinion("", f.log_softmax(dim=1), 0.0, 0.0)
        >>> both, (good, useless) = combine([judge(1.0), judge(0.0)], y)
        >>> good.weight > 0.9 and useless.weight < 0.1
        True
    """
    if not opinions:
        raise InputError("there is no judge to ask; name at least one")
    shape = opinions[0].logits.shape
    if any(each.logits.shape != shape for each in opinions) or len(labels) != shape[0]:
        raise InputError("opinions must be about the same samples and classes, one row per label")
    if len(opinions) == 1:
        return opinions[0].logits, (replace(opinions[0], weight=1.0),)
    found = _weights(opinions, labels, weights)
    total = float(found.sum())
    combined = torch.zeros(shape, dtype=torch.float64)
    for each, weight in zip(opinions, found.tolist(), strict=True):
        if weight:
            combined += weight * each.logits
    shares = found / total if total > 0 else torch.full_like(found, 1 / len(found))
    said = tuple(replace(each, weight=share) for each, share in zip(opinions, shares.tolist(), strict=True))
    return combined.log_softmax(dim=1), said


def _weights(opinions: Sequence[Opinion], labels: Tensor, weights: Tensor | None) -> Tensor:
    """Return the weights ``(m,)`` before they are divided by their sum."""
    step = max(1, -(-len(labels) // _MOST_SAMPLES))
    rows = torch.stack([each.logits[::step] for each in opinions])  # (m, n, k)
    given = rows.gather(2, labels[::step].expand(len(opinions), -1)[:, :, None])[:, :, 0]  # (m, n)
    each = torch.ones(given.shape[1], dtype=torch.float64) if weights is None else weights[::step].to(torch.float64)
    if not float(each.sum()):
        each = torch.ones_like(each)
    each = each / each.sum()

    def negative(v: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        now = torch.from_numpy(v)
        mixed = torch.einsum("m,mnk->nk", now, rows)
        normalizer = mixed.logsumexp(dim=1)
        value = each @ (now @ given - normalizer) - _PULL * now @ now
        expected = torch.einsum("nk,mnk->mn", (mixed - normalizer[:, None]).exp(), rows)
        slope = (given - expected) @ each - 2 * _PULL * now
        return -float(value), -slope.numpy()

    start = np.full(len(opinions), 1.0 / len(opinions))
    bounds = [(0.0, None)] * len(opinions)
    found = minimize(negative, start, jac=True, bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-12, "gtol": 1e-7})
    return torch.from_numpy(np.maximum(found.x, 0.0))

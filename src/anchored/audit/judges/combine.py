r"""Several judges become one: a weighted mean of their log-probabilities.

.. math::  \log p(j \mid x) = \sum_m v_m \ell_m(j \mid x) - \log Z(x), \qquad
           v = \arg\max_{v \ge 0} \sum_i c_i \log p(\tilde y_i \mid x_i).

Every judge's answer for a sample was made without its label, so the likelihood of the given labels is an honest score,
and with a handful of weights there is next to nothing to overfit. The objective is concave: the maximum is unique up to
judges that say the same. A judge that adds nothing gets weight zero. The weights that are reported sum to one; their
sum is a temperature, since judges that agree for different reasons are surer together than each alone.

Where labels are wrong, this favours judges that are modest about everything over those that know the true class and are
punished for saying so. So the weights are then moved to where the given labels are likeliest under the noise law
(:mod:`anchored.audit.label_noise`), with the matrix M of how true classes are labelled,

.. math::  v = \arg\max_{v \ge 0} \sum_i c_i \log \sum_j p(j \mid x_i)\, M_{j \tilde y_i},

M and v in turns, beginning at the plain weights. Without noise M is the identity and nothing moves.
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
from anchored._threads import one_thread_if_small
from anchored.audit.judges.base import Opinion
from anchored.audit.judges.calibrate import calibrated
from anchored.audit.label_noise import FEWEST_PER_CLASS, fit_label_noise

__all__ = ["combine", "likelihood_under_law"]

_MOST_SAMPLES = 20_000
"""Samples on which the weights are found; a few weights need no more."""
_MOST_UNDER_LAW, _TURNS = 5_000, 2
"""Samples on which law and weights are found in turns, and how often."""
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
    found = _under_law(opinions, labels, weights, _weights(opinions, labels, weights))
    total = float(found.sum())
    combined = torch.zeros(shape, dtype=torch.float64)
    for each, weight in zip(opinions, found.tolist(), strict=True):
        if weight:
            combined += weight * each.logits
    shares = found / total if total > 0 else torch.full_like(found, 1 / len(found))
    said = tuple(replace(each, weight=share) for each, share in zip(opinions, shares.tolist(), strict=True))
    return calibrated(combined, labels, weights), said


def likelihood_under_law(logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> float:
    r"""Compute how likely labels are that may be wrong: the mean of :math:`\log \sum_j p_j(x_i)\, M_{j \tilde y_i}`.

    Temperature, biases and matrix are those of largest likelihood, so a model of the true labels is not punished for
    being sure of them.

    Args:
        logits: ``(n, k)``, of models that did not see the sample's label; at most 5,000 samples are looked at.
        labels: Given labels ``(n,)``.
        weights: ``(n,)``; None for one each.

    Returns:
        The mean log-likelihood.

    Example:
        >>> labels = torch.arange(300) % 3
        >>> sure = 9.0 * torch.nn.functional.one_hot(labels, 3)
        >>> given = torch.where(torch.arange(300) % 5 == 0, (labels + 1) % 3, labels)        # a fifth is wrong
        >>> likelihood_under_law(sure, given) > float(sure.log_softmax(1).gather(1, given[:, None]).mean())
        True
    """
    (rows,), labels, each = _part([logits], labels, weights, _MOST_UNDER_LAW)
    law = fit_label_noise(rows, labels, weights=each)
    likely = (law.probabilities(rows) * law.transition.T[labels]).sum(dim=1)
    return float(each @ likely.clamp(min=torch.finfo(torch.float64).tiny).log() / each.sum())


def _weights(opinions: Sequence[Opinion], labels: Tensor, weights: Tensor | None) -> Tensor:
    """Return the weights ``(m,)`` before they are divided by their sum."""
    rows, labels, each = _part([each.logits for each in opinions], labels, weights, _MOST_SAMPLES)
    start = torch.full((len(opinions),), 1.0 / len(opinions), dtype=torch.float64)
    return _likeliest(rows, torch.nn.functional.one_hot(labels, rows.shape[2]).to(torch.float64).log(), each, start)


def _under_law(opinions: Sequence[Opinion], labels: Tensor, weights: Tensor | None, start: Tensor) -> Tensor:
    """Return the weights ``(m,)`` under which the labels are likeliest if they may be wrong."""
    rows, labels, each = _part([each.logits for each in opinions], labels, weights, _MOST_UNDER_LAW)
    k = rows.shape[2]
    if int((each > 0).sum()) < FEWEST_PER_CLASS * k or not float(start.sum()):
        return start
    found = start
    for _ in range(_TURNS):
        law = fit_label_noise(torch.einsum("m,mnk->nk", found, rows), labels, weights=each)
        labelled = law.transition.T[labels].clamp(min=torch.finfo(torch.float64).tiny).log()
        found = _likeliest(rows, labelled, each, found / law.temperature)
    return found


def _part(logits: Sequence[Tensor], labels: Tensor, weights: Tensor | None, most: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return what the judges say ``(m, b, k)``, labels and weights ``(b,)`` of at most ``most`` samples."""
    step = max(1, -(-len(labels) // most))
    rows = torch.stack([each[::step] for each in logits])
    each = torch.ones(rows.shape[1], dtype=torch.float64) if weights is None else weights[::step].to(torch.float64)
    return rows, labels[::step], each if float(each.sum()) else torch.ones_like(each)


def _likeliest(rows: Tensor, labelled: Tensor, weights: Tensor, start: Tensor) -> Tensor:
    """Return the weights ``(m,)`` under which the labels are likeliest.

    Args:
        rows: What the judges say, ``(m, n, k)``.
        labelled: Log-probability of the given label for each true class, ``(n, k)``.
        weights: ``(n,)``.
        start: Where the search begins, ``(m,)``.
    """
    each = weights / weights.sum()

    def negative(v: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        now = torch.from_numpy(v)
        logs = torch.einsum("m,mnk->nk", now, rows).log_softmax(dim=1)
        joint = logs + labelled
        likely = joint.logsumexp(dim=1)
        value = each @ likely - _PULL * now @ now
        pulled = (joint - likely[:, None]).exp() - logs.exp()  # posterior of the true class, less what is said of it
        slope = torch.einsum("n,nk,mnk->m", each, pulled, rows) - 2 * _PULL * now
        return -float(value), -slope.numpy()

    with one_thread_if_small(rows.numel()):
        found = minimize(
            negative,
            start.numpy(),
            jac=True,
            bounds=[(0.0, None)] * len(rows),
            method="L-BFGS-B",
            options={"ftol": 1e-12, "gtol": 1e-7},
        )
    return torch.from_numpy(np.maximum(found.x, 0.0))

r"""Which labels are flagged: more probably wrong than right, and judged within their class.

In a rare class most labels may be wrong, if a few of every large class carry its name; one threshold for all would then
flag many of its few correct labels. So within the labels of each class those are flagged, most suspect first, of which

.. math::  p_i > \tfrac12 \qquad\text{and}\qquad
           \sum_{\text{flagged}} (1 - p_i) \;\le\; a \sum_{\tilde y_i = j} (1 - p_i),

where :math:`p_i` is the probability that the label is wrong: at most a share a of the correct labels of the class is
expected to be among those flagged.
"""

from __future__ import annotations

import torch
from torch import Tensor

from anchored._checks import check_real

__all__ = ["flag"]

_MOST_CORRECT = 0.05
"""Half of the one in ten that is allowed: the probabilities of rare classes rest on few samples."""


def flag(posterior: Tensor, labels: Tensor, *, most_correct: float = _MOST_CORRECT) -> Tensor:
    """Return which labels are flagged; the rule is at the head of this file.

    Args:
        posterior: Probabilities ``(n, k)`` of the true labels.
        labels: Given labels ``(n,)``.
        most_correct: Share of the correct labels of a class that may be flagged, by expectation; 1 for no limit.

    Returns:
        ``(n,)`` bool.

    Raises:
        InputError: If the share is not between 0 and 1.

    Example:
        >>> posterior = torch.tensor([[0.4, 0.6], [0.01, 0.99], [0.9, 0.1]])
        >>> flag(posterior, torch.tensor([0, 0, 0])).tolist()            # the first would be too much of the class
        [False, True, False]
        >>> flag(posterior, torch.tensor([0, 0, 0]), most_correct=1.0).tolist()
        [True, True, False]
    """
    check_real("most_correct", most_correct, low=0, high=1)
    k = posterior.shape[1]
    right = posterior.to(torch.float64).gather(1, labels[:, None])[:, 0]
    order = right.argsort(stable=True)
    order = order[labels[order].argsort(stable=True)]  # class by class, the most suspect first
    sizes = labels.bincount(minlength=k)
    totals = torch.zeros(k, dtype=torch.float64).index_add_(0, labels, right)
    running = right[order].cumsum(0)
    before = totals.cumsum(0) - totals  # of all classes that come earlier
    # The sums of earlier classes are subtracted: a slack far below any probability that matters covers their rounding.
    spent = running - before[labels[order]]
    allowed = most_correct * totals[labels[order]] + 1e-9 * float(sizes.sum())
    flagged = torch.zeros(len(labels), dtype=torch.bool)
    flagged[order] = (right[order] < 0.5) & (spent <= allowed)
    return flagged

r"""Accuracy: the share of samples whose label is among the largest scores; and the table of confusions behind it.

.. math::  C_{ij} = \#\{\text{label } i,\ \text{predicted } j\}, \qquad
           \text{accuracy} = \frac{\operatorname{tr} C}{n}, \qquad
           \text{accuracy}_i = \frac{C_{ii}}{\sum_j C_{ij}}.

If only the probabilities of the true labels are known, C holds expected numbers.
"""

from __future__ import annotations

import torch
from torch import Tensor

from anchored._checks import check_integer
from anchored._errors import InputError
from anchored.metrics._inputs import checked_predictions, checked_scores, checked_target, share_right

__all__ = ["accuracy", "confusion", "per_class_accuracy"]


def accuracy(scores: Tensor, target: Tensor, topk: int = 1) -> float:
    r"""Return the share of samples whose label is among the ``topk`` largest scores, in ``[0, 1]``.

    .. math::  \text{accuracy} = \frac1n \#\{i : y_i \text{ is among the topk largest of } f_i\}.

    Args:
        scores: Logits or probabilities ``(n, k)``; for ``topk=1`` also predicted labels ``(n,)``.
        target: True labels ``(n,)``; for ``topk=1`` also their probabilities ``(n, k)``.
        topk: How many guesses count, at most ``k``. Equal scores rank by class index, so that a
            model that gives every class the same score is not right by luck of the sort.

    Example:
        >>> import torch
        >>> scores = torch.tensor([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3]])
        >>> accuracy(scores, torch.tensor([0, 2])), accuracy(scores, torch.tensor([0, 2]), topk=2)
        (0.5, 1.0)
    """
    topk = check_integer("topk", topk, low=1)
    if topk == 1:
        predictions, target, _ = checked_predictions(scores, target, None)
        return share_right(predictions, target).mean().item()
    scores = torch.as_tensor(scores)
    if scores.ndim == 1:
        raise InputError(f"topk = {topk} needs scores (n, k), got predictions {tuple(scores.shape)}")
    scores = checked_scores(scores)
    n, k = scores.shape
    if topk > k:
        raise InputError(f"topk must be at most the number of classes, got topk = {topk} for k = {k}")
    target = checked_target(target, n, k).to(scores.device)[:, None]
    true = scores.gather(1, target)
    earlier = torch.arange(k, device=scores.device) < target
    ahead = ((scores > true) | ((scores == true) & earlier)).sum(dim=1)
    return (ahead < topk).double().mean().item()


def confusion(scores: Tensor, target: Tensor, k: int | None = None) -> Tensor:
    """Count samples by true label (row) and predicted label (column): ``C[i, j] = #{label i, predicted j}``.

    Args:
        scores: Logits or probabilities ``(n, k)``, or predicted labels ``(n,)``.
        target: True labels ``(n,)``, or their probabilities ``(n, k)``.
        k: Number of classes; needed only if predictions ``(n,)`` do not show all of them.

    Returns:
        Numbers ``(k, k)``, int64; expected numbers, float64, if ``target`` holds probabilities.

    Example:
        >>> import torch
        >>> confusion(torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1]))
        tensor([[1, 1],
                [0, 1]])
    """
    predictions, target, k = checked_predictions(scores, target, k)
    if target.ndim == 2:
        return target.new_zeros(k, k).index_add_(0, predictions, target).T
    return torch.bincount(target * k + predictions, minlength=k * k).reshape(k, k)


def per_class_accuracy(scores: Tensor, target: Tensor, k: int | None = None) -> tuple[float | None, ...]:
    """Return the accuracy within each true class, ``C_ii / sum_j C_ij`` of the table of :func:`confusion`.

    Args:
        scores: Logits or probabilities ``(n, k)``, or predicted labels ``(n,)``.
        target: True labels ``(n,)``, or their probabilities ``(n, k)``.
        k: Number of classes; needed only if predictions ``(n,)`` do not show all of them.

    Returns:
        One share per class, ``None`` for a class without samples. If ``target`` holds probabilities, a class counts as
        without samples if less than half a sample is expected.

    Example:
        >>> import torch
        >>> per_class_accuracy(torch.tensor([0, 1, 1, 0]), torch.tensor([0, 0, 1, 0]), k=3)
        (0.6666666666666666, 1.0, None)
    """
    table = confusion(scores, target, k)
    samples, correct = table.sum(dim=1).tolist(), table.diagonal().tolist()
    return tuple(c / n if n >= 0.5 else None for c, n in zip(correct, samples, strict=True))

r"""Which samples a reviewer should look at next: suspect ones, and not the same mistake again and again.

A sample's value is the probability that its label is wrong. Once a similar sample of the same label and suggestion is
on the list, much of what can be learnt from it is learnt, so its value falls with the similarity to what was chosen
before:

.. math::  v_i = p_i \prod_{j \text{ chosen}} \bigl(1 - \lambda\, [\tilde y_i = \tilde y_j,\ \hat y_i = \hat y_j]\,
           \max(0, \cos(x_i, x_j))^2\bigr).

The sample of largest value is taken, one after the other.
"""

from __future__ import annotations

import torch
from torch import Tensor

from anchored._checks import check_integer, check_real
from anchored._errors import InputError

__all__ = ["most_valuable", "next_to_show"]

_POOL = 10
"""How many candidates per wanted sample are compared: the most suspect ones."""
_LEAST_POOL = 500


def next_to_show(
    posterior: Tensor,
    features: Tensor,
    count: int,
    *,
    labels: Tensor,
    confirmed: Tensor | None = None,
    diversity: float = 0.5,
) -> Tensor:
    """Choose the samples to show next by expected value; the formula is at the head of this file.

    Args:
        posterior: Probabilities ``(n, k)`` of the true labels.
        features: Vectors ``(n, d)``; similar vectors are similar samples.
        count: How many to choose.
        labels: Given labels ``(n,)``.
        confirmed: ``(n,)`` bool, samples that need not be shown again; None if there are none.
        diversity: Lambda, how much a similar sample on the list takes away: 0 for the plain ranking, below 1.

    Returns:
        Places ``(min(count, n),)``, the most valuable first; without the confirmed ones.

    Raises:
        InputError: If the arguments do not fit together.

    Example:
        >>> posterior = torch.tensor([[0.1, 0.9], [0.11, 0.89], [0.3, 0.7], [0.9, 0.1]])
        >>> features = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
        >>> labels = torch.zeros(4, dtype=torch.int64)
        >>> next_to_show(posterior, features, 2, labels=labels).tolist()         # the second is like the first
        [0, 2]
        >>> next_to_show(posterior, features, 2, labels=labels, diversity=0.0).tolist()
        [0, 1]
    """
    check_integer("count", count, low=1)
    check_real("diversity", diversity, low=0, high=1, closed="left")
    n = len(posterior)
    if features.ndim != 2 or len(features) != n or labels.shape != (n,):
        raise InputError(f"features and labels must have {n} rows, one per row of the posterior")
    value = 1.0 - posterior.to(torch.float64).gather(1, labels[:, None])[:, 0]
    candidates = value.argsort(descending=True, stable=True)
    if confirmed is not None:
        candidates = candidates[~confirmed[candidates]]
    candidates = candidates[: max(_LEAST_POOL, _POOL * count)]
    spread = features.to(torch.float64).std(dim=0) if n > 1 else torch.ones(features.shape[1], dtype=torch.float64)
    rows = features[candidates].to(torch.float64) - features.to(torch.float64).mean(dim=0)
    rows = rows / torch.where(spread > 0, spread, 1.0)
    suggested = posterior[candidates].argmax(dim=1)
    chosen = most_valuable(
        value[candidates], rows, count, given=labels[candidates], suggested=suggested, diversity=diversity
    )
    return candidates[chosen]


def most_valuable(
    wrong: Tensor, rows: Tensor, count: int, *, given: Tensor, suggested: Tensor, diversity: float = 0.5
) -> Tensor:
    """Take the samples of largest value, one after the other; the formula is at the head of this file.

    Args:
        wrong: Probabilities ``(m,)`` that the labels are wrong.
        rows: Vectors ``(m, d)`` whose cosines are similarities.
        count: How many to choose.
        given: Given labels ``(m,)``.
        suggested: Suggested labels ``(m,)``.
        diversity: As for :func:`next_to_show`.

    Returns:
        Places ``(min(count, m),)`` among the m samples, the most valuable first.

    Example:
        >>> wrong, rows = torch.tensor([0.9, 0.9, 0.7]), torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        >>> same = torch.zeros(3, dtype=torch.int64)
        >>> most_valuable(wrong, rows, 3, given=same, suggested=same + 1).tolist()
        [0, 2, 1]
    """
    value, rows = wrong.to(torch.float64).clone(), torch.nn.functional.normalize(rows.to(torch.float64), dim=1)
    chosen = []
    for _ in range(min(count, len(value))):
        place = int(value.argmax())
        chosen.append(place)
        alike = (given == given[place]) & (suggested == suggested[place])
        value = value * (1.0 - diversity * alike * (rows @ rows[place]).clamp(min=0.0).square())
        value[place] = -1.0
    return torch.tensor(chosen, dtype=torch.int64)

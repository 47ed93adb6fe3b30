"""Which features to take: those that predict held-out labels best, judged by whoever knows how."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from torch import Tensor

from anchored._errors import InputError

__all__ = ["choose_features"]


def choose_features(candidates: Mapping[str, Tensor], score: Callable[[Tensor], float]) -> tuple[str, dict[str, float]]:
    """Score feature matrices of the same samples and name the best one.

    Labels are not seen here: ``score`` knows them, for instance as the leave-one-out log-likelihood of the closed form.

    Args:
        candidates: Features ``(n, d)`` by the name of their encoder; of equal scores the first wins.
        score: Gives a number for a matrix; larger is better.

    Returns:
        The best name, and the score of every name.

    Raises:
        InputError: If there is no candidate, or they have different numbers of rows.

    Example:
        >>> import torch
        >>> choose_features({"a": torch.zeros(3, 2), "b": torch.ones(3, 5)}, lambda x: float(x.mean()))
        ('b', {'a': 0.0, 'b': 1.0})
    """
    rows = {name: len(features) for name, features in candidates.items()}
    if len(set(rows.values())) != 1:
        raise InputError(f"features to choose from must be of the same samples, got rows {rows}")
    scores = {name: float(score(features)) for name, features in candidates.items()}
    return max(scores, key=lambda name: -math.inf if math.isnan(scores[name]) else scores[name]), scores

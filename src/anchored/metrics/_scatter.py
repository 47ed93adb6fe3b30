r"""Scatter of features: how wide the classes are, compared to how far apart their means lie.

.. math::  \operatorname{tr} S_W = \frac1n \sum_i \lVert z_i - \mu_{y_i}\rVert^2, \qquad
           \operatorname{tr} S_B = \frac1n \sum_j n_j \lVert \mu_j - \mu\rVert^2 .

The two add up to the total variance. Their ratio goes to zero as features collapse to their class
means (the first of the neural-collapse properties, in its simplest form).

References:
    Papyan, Han and Donoho, 2020. Prevalence of Neural Collapse during the Terminal Phase of Deep
    Learning Training. PNAS.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from anchored._checks import check_labels
from anchored._errors import InputError

__all__ = ["Scatter", "scatter"]

_BLOCK = 16384  # rows that are held in double precision at a time


@dataclass(frozen=True)
class Scatter:
    """The traces of the two scatter matrices.

    Attributes:
        within: Mean squared distance of a feature from the mean of its class.
        between: Mean squared distance of a class mean from the overall mean, weighted by class size.
        per_class: ``within`` for each class alone, ``None`` for a class without samples.
    """

    within: float
    between: float
    per_class: tuple[float | None, ...]

    @property
    def ratio(self) -> float | None:
        """``within / between``: 0 is full collapse; ``None`` if all class means coincide."""
        return self.within / self.between if self.between else None


def scatter(features: Tensor, labels: Tensor) -> Scatter:
    r"""Measure the scatter of features within and between classes.

    .. math::  \operatorname{tr} S_W = \frac1n \sum_i \lVert z_i - \mu_{y_i}\rVert^2, \qquad
               \operatorname{tr} S_B = \frac1n \sum_j n_j \lVert \mu_j - \mu\rVert^2 .

    Args:
        features: Features ``(n, d)``.
        labels: Labels ``(n,)``.

    Returns:
        Both traces, and the first one class by class.

    Example:
        >>> import torch
        >>> scatter(torch.tensor([[0.0], [2.0], [10.0], [12.0]]), torch.tensor([0, 0, 1, 1]))
        Scatter(within=1.0, between=25.0, per_class=(1.0, 1.0))
    """
    z = torch.as_tensor(features).detach()
    if z.ndim != 2 or z.numel() == 0 or not z.is_floating_point():
        raise InputError(f"features must be real numbers (n, d), got {z.dtype} of shape {tuple(z.shape)}")
    labels = check_labels(labels).to(z.device)
    if labels.numel() != z.shape[0]:
        raise InputError(f"labels must hold one label per row of features, got {labels.numel()} for {z.shape[0]} rows")
    sizes = torch.bincount(labels)
    sums = z.new_zeros(sizes.numel(), z.shape[1], dtype=torch.float64)
    for rows, y in zip(torch.split(z, _BLOCK), torch.split(labels, _BLOCK), strict=True):
        sums.index_add_(0, y, rows.double())
    means = sums / sizes.clamp(min=1)[:, None]
    # A second pass over distances, since a mean of squares minus a squared mean cancels when features have collapsed.
    spread = sums.new_zeros(sizes.numel())
    for rows, y in zip(torch.split(z, _BLOCK), torch.split(labels, _BLOCK), strict=True):
        spread.index_add_(0, y, (rows.double() - means[y]).square().sum(dim=1))
    n = labels.numel()
    away = (means - sums.sum(dim=0) / n).square().sum(dim=1)
    per_class = tuple(s / m if m else None for s, m in zip(spread.tolist(), sizes.tolist(), strict=True))
    return Scatter(spread.sum().item() / n, (away * sizes).sum().item() / n, per_class)

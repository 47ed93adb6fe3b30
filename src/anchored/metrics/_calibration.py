r"""Calibration: is a model that says 80 % right 80 % of the time?

The largest probability of each sample, its confidence, is sorted into M bins of equal width,
closed on the right: a confidence of exactly m/M belongs to the bin below.

.. math::  \mathrm{ECE} = \sum_m \frac{n_m}{n} \bigl|\mathrm{acc}_m - \mathrm{conf}_m\bigr|,
           \qquad \mathrm{MCE} = \max_{m:\, n_m > 0} \bigl|\mathrm{acc}_m - \mathrm{conf}_m\bigr|.

The class-wise error does the same to each column of probabilities, and is the mean over classes.
(The first bin also holds the value 0: no confidence is 0, but an entry of a column often is.)

References:
    Guo et al., 2017. On Calibration of Modern Neural Networks. ICML.
    Kull et al., 2019. Beyond Temperature Scaling. NeurIPS (class-wise).
    Zhong et al., 2021. Improving Calibration for Long-Tailed Recognition. CVPR (15 bins).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
from torch import Tensor

from anchored._checks import check_integer
from anchored._errors import InputError
from anchored.metrics._inputs import checked_scores, checked_target, checked_truth, share_right

__all__ = ["Bin", "Reliability", "classwise_ece", "ece", "mce", "reliability"]

_ENTRIES = 2**22  # probabilities at a time in the class-wise error


@dataclass(frozen=True)
class Bin:
    """One bar of a reliability diagram: the samples with a confidence in ``(low, high]``.

    ``accuracy`` and ``confidence`` are means over the bin, ``None`` if it is empty.
    """

    low: float
    high: float
    count: int
    accuracy: float | None
    confidence: float | None

    @property
    def gap(self) -> float | None:
        """Accuracy minus confidence: negative if the model is too sure of itself, ``None`` if the bin is empty."""
        return None if self.accuracy is None or self.confidence is None else self.accuracy - self.confidence


@dataclass(frozen=True)
class Reliability:
    """The table behind a reliability diagram, and the two calibration errors that follow from it."""

    bins: tuple[Bin, ...]

    @property
    def ece(self) -> float:
        """Expected calibration error: the mean size of the gap, every sample with the same weight."""
        return sum(b.count * abs(b.gap) for b in self.bins if b.gap is not None) / sum(b.count for b in self.bins)

    @property
    def mce(self) -> float:
        """Maximum calibration error: the largest gap of a bin that has samples."""
        return max(abs(b.gap) for b in self.bins if b.gap is not None)

    def as_dict(self) -> dict[str, object]:
        """Return the table and both errors as types that JSON knows."""
        return {"ece": self.ece, "mce": self.mce, "bins": [asdict(b) for b in self.bins]}


def reliability(probabilities: Tensor, target: Tensor, bins: int = 15) -> Reliability:
    """Compare accuracy and confidence, bin by bin of confidence.

    Args:
        probabilities: ``(n, k)``, each row summing to one; logits are refused.
        target: True labels ``(n,)``, or their probabilities ``(n, k)``.
        bins: Number of bins of equal width.

    Returns:
        The table of bins, from the lowest confidence to the highest; empty bins are included.

    Example:
        >>> import torch
        >>> table = reliability(torch.tensor([[0.9, 0.1], [0.7, 0.3]]), torch.tensor([0, 1]), bins=2)
        >>> [(b.count, b.accuracy) for b in table.bins], round(table.ece, 4)
        ([(0, None), (2, 0.5)], 0.3)
    """
    probabilities, bins = _checked(probabilities, bins)
    target = checked_truth(target, *probabilities.shape).to(probabilities.device)
    confidence, predicted = probabilities.max(dim=1)
    where = _bin_of(confidence, bins)
    count = torch.bincount(where, minlength=bins).tolist()
    right = torch.bincount(where, weights=share_right(predicted, target), minlength=bins).tolist()
    sure = torch.bincount(where, weights=confidence.double(), minlength=bins).tolist()
    return Reliability(
        tuple(
            Bin(m / bins, (m + 1) / bins, int(c), r / c if c else None, s / c if c else None)
            for m, (c, r, s) in enumerate(zip(count, right, sure, strict=True))
        )
    )


def ece(probabilities: Tensor, target: Tensor, bins: int = 15) -> float:
    r"""Return the expected calibration error, in ``[0, 1]``: how far confidence and accuracy differ on average.

    .. math::  \mathrm{ECE} = \sum_m \frac{n_m}{n} \bigl|\mathrm{acc}_m - \mathrm{conf}_m\bigr|,

    over bins :math:`m` of the confidence (the largest probability) with :math:`n_m` samples each.

    Args:
        probabilities: ``(n, k)``, each row summing to one; logits are refused.
        target: True labels ``(n,)``, or their probabilities ``(n, k)``.
        bins: Number of bins of equal width.

    Example:
        >>> import torch
        >>> ece(torch.tensor([[0.75, 0.25]] * 4), torch.tensor([0, 0, 0, 1]))     # says 3/4, is 3/4
        0.0
    """
    return reliability(probabilities, target, bins).ece


def mce(probabilities: Tensor, target: Tensor, bins: int = 15) -> float:
    r"""Return the maximum calibration error, in ``[0, 1]``: the gap of the worst bin.

    .. math::  \mathrm{MCE} = \max_{m:\, n_m > 0} \bigl|\mathrm{acc}_m - \mathrm{conf}_m\bigr|.

    Args:
        probabilities: ``(n, k)``, each row summing to one; logits are refused.
        target: True labels ``(n,)``, or their probabilities ``(n, k)``.
        bins: Number of bins of equal width.

    Example:
        >>> import torch
        >>> mce(torch.tensor([[1.0, 0.0], [0.75, 0.25]]), torch.tensor([0, 1]))
        0.75
    """
    return reliability(probabilities, target, bins).mce


def classwise_ece(probabilities: Tensor, target: Tensor, bins: int = 15) -> float:
    r"""Return the calibration error of each class's own probability, averaged over the classes.

    .. math::  \frac1k \sum_{j=1}^{k} \sum_m \frac{n_{jm}}{n} \bigl|\mathrm{share}_{jm} - \mathrm{mean}_{jm}\bigr|,

    taken over the samples whose probability of class :math:`j` lies in bin :math:`m`: their number, the share of them
    that is of class :math:`j`, and their mean probability.

    Args:
        probabilities: ``(n, k)``, each row summing to one; logits are refused.
        target: True labels ``(n,)``.
        bins: Number of bins of equal width.

    Example:
        >>> import torch
        >>> classwise_ece(torch.tensor([[0.5, 0.5, 0.0]] * 2), torch.tensor([0, 1]))
        0.0
    """
    probabilities, bins = _checked(probabilities, bins)
    n, k = probabilities.shape
    target = checked_target(target, n, k).to(probabilities.device)
    columns = torch.arange(k, device=probabilities.device)
    gap = torch.zeros(k * bins, dtype=torch.float64, device=probabilities.device)  # sum of (is class) - p
    for start in range(0, n, rows := max(1, _ENTRIES // k)):
        p = probabilities[start : start + rows]
        cell = (_bin_of(p, bins) + columns * bins).flatten()
        excess = (target[start : start + rows, None] == columns).double() - p.double()
        gap += torch.bincount(cell, weights=excess.flatten(), minlength=k * bins)
    return gap.abs().sum().item() / (n * k)


def _bin_of(values: Tensor, bins: int) -> Tensor:
    """Return the index of the right-closed bin of each value; 0 belongs to the first."""
    # Edges in the values' own precision: float32's 0.2 is above the double 3/15, and would change sides.
    edges = (torch.arange(1, bins, dtype=torch.float64) / bins).to(values.device, values.dtype)
    return torch.bucketize(values, edges)


def _checked(probabilities: Tensor, bins: int) -> tuple[Tensor, int]:
    probabilities = checked_scores(probabilities, name="probabilities")
    short = probabilities.dtype in (torch.float16, torch.bfloat16)
    slack = 2e-2 if short else 1e-3
    off = (probabilities.sum(dim=1, dtype=torch.float64) - 1).abs().max().item()
    if float(probabilities.min()) < 0 or not off <= slack:
        raise InputError(
            f"probabilities must be non-negative with rows that sum to 1, got a smallest entry of "
            f"{float(probabilities.min()):g} and a sum off by {off:g}; pass probabilities, not logits (softmax them)"
        )
    return probabilities, check_integer("bins", bins, low=1)

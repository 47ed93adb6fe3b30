r"""Instance-dependent noise: which wrong label a sample gets depends on what it looks like.

For sample :math:`x` of class :math:`y` with a rate :math:`q_x` of its own and one random matrix
:math:`V_y \in \mathbb R^{d \times k}` per class,

.. math::  P(\tilde y = y \mid x) = 1 - q_x, \qquad
           P(\tilde y = j \mid x) = q_x \operatorname{softmax}_{j \ne y}(V_y^\top x)_j .

The rates are normal around :math:`\eta` with deviation 0.1, cut off at equal distances on both
sides of :math:`\eta` so that they stay in [0, 1] and their mean stays :math:`\eta`.

References:
    Xia et al., 2020. Part-dependent Label Noise: Towards Instance-dependent Label Noise. NeurIPS.
    (There the cut is at 0 and 1, which lifts the mean for small rates.)
"""

from __future__ import annotations

import torch
from torch import Tensor

from anchored._checks import check_integer, check_real
from anchored._errors import InputError
from anchored._random import generator_or_default
from anchored.noise._corruption import Corruption
from anchored.noise._draw import checked_labels, draw_from_rows

__all__ = ["instance_dependent"]

_BLOCK = 8192  # samples at a time: (block, k) probabilities are all that is held


def instance_dependent(
    features: Tensor,
    labels: Tensor,
    eta: float,
    k: int,
    *,
    deviation: float = 0.1,
    generator: torch.Generator | None = None,
) -> Corruption:
    r"""Add noise of mean rate ``eta`` whose rate and direction differ from sample to sample.

    .. math::  P(\tilde y = y \mid x) = 1 - q_x, \qquad
               P(\tilde y = j \mid x) = q_x \operatorname{softmax}_{j \ne y}(V_y^\top x)_j .

    Args:
        features: The features ``(n, ...)`` that the mistakes depend on; flattened to ``(n, d)`` and not rescaled:
            the larger the values, the more surely similar samples get the same wrong label.
        labels: Clean labels ``(n,)``, integers in ``0..k-1``; not changed.
        eta: Mean noise rate in ``[0, (k-1)/k)``.
        k: Number of classes.
        deviation: Standard deviation of the samples' rates before they are cut off.
        generator: Source of randomness; None means seed 0.

    Returns:
        The observed labels and the receipt; ``asked_matrix`` is the mean of the distributions that
        the labels of each class were drawn from.

    Raises:
        InputError: If the rate is too high, or features and labels do not fit.

    Example:
        >>> import torch
        >>> x = torch.randn(4000, 8, generator=torch.Generator().manual_seed(0))
        >>> receipt = instance_dependent(x, torch.arange(4000) % 5, 0.3, 5)
        >>> abs(receipt.rate - 0.3) < 0.05
        True
    """
    k = check_integer("k", k, low=2, way_out="noise needs another class to go to")
    eta = check_real("eta", eta, low=0, high=(k - 1) / k, closed="left", way_out="use a rate below (k-1)/k")
    deviation = check_real("deviation", deviation, low=0, closed="neither")
    clean = checked_labels(labels, k)
    x = torch.as_tensor(features).detach()
    if x.ndim < 2 or x.shape[0] != clean.numel():
        raise InputError(f"features must have one row per label, got {tuple(x.shape)} for {clean.numel()} labels")
    x = x.flatten(1)
    if not bool(torch.isfinite(x).all()):
        raise InputError("features must be finite, got NaN or infinity; drop or fill those rows first")

    generator = generator_or_default(generator)
    rates = _rates(clean.numel(), eta, deviation, generator)
    here = clean.cpu()
    observed = here.clone()
    asked = torch.full((k, k), torch.nan, dtype=torch.float64)
    for c in range(k):
        directions = torch.randn(x.shape[1], k, generator=generator)  # drawn for absent classes too: same stream
        members = (here == c).nonzero().squeeze(1)
        total = torch.zeros(k, dtype=torch.float64)
        for block in torch.split(members, _BLOCK):
            rows = _rows(x[block.to(x.device)].to("cpu", torch.float32) @ directions, rates[block], c)
            observed[block] = draw_from_rows(rows, torch.arange(block.numel()), generator)
            total += rows.sum(dim=0)
        if members.numel():
            asked[c] = total / members.numel()
    return Corruption(observed.to(clean.device), clean, k, "instance-dependent", eta, asked)


def _rates(n: int, eta: float, deviation: float, generator: torch.Generator) -> Tensor:
    """Draw rates ``(n,)``: normal around ``eta``, cut off at equal distances so that the mean is ``eta``."""
    reach = min(eta, 1 - eta)
    ends = torch.special.ndtr(torch.tensor([-reach, reach], dtype=torch.float64) / deviation)
    draws = ends[0] + (ends[1] - ends[0]) * torch.rand(n, generator=generator, dtype=torch.float64)
    # ndtri is infinite at 0, where a very distant cut-off rounds to; the clamp is the cut-off itself.
    rates: Tensor = eta + deviation * torch.special.ndtri(draws)
    return rates.clamp(eta - reach, eta + reach)


def _rows(scores: Tensor, rates: Tensor, c: int) -> Tensor:
    """Return distributions ``(m, k)`` of the observed label for samples of class ``c``."""
    scores = scores.double()
    scores[:, c] = -torch.inf
    rows = rates[:, None] * scores.softmax(dim=1)
    rows[:, c] = 1 - rates
    return rows

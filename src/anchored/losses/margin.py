r"""Softmax with a margin per class, subtracted from the label's logit; LDAM sets it by the class counts.

.. math::  L_{\boldsymbol\alpha}(\mathbf f, y) =
           -\log \frac{e^{s (f_y - m_y)}}{e^{s (f_y - m_y)} + \sum_{j \ne y} e^{s f_j}},
           \qquad \alpha_y = -s\,m_y .

A positive margin asks for more than being the largest. In the form with :math:`+\alpha_y` inside the
exponent, margins are negative alphas. LDAM takes

.. math::  m_j = m \left(\frac{n_{\min}}{n_j}\right)^{1/4},

so that rare classes are kept at the greater distance, :math:`m` for the rarest. The logits are meant to be
cosines (the scale s lives here, not in the head). With unequal margins the loss is not
calibrated: for two classes it decides at a threshold other than 1/2.

References:
    Cao, Wei, Gaidon, Arechiga and Ma, 2019. Learning Imbalanced Datasets with Label-Distribution-Aware
    Margin Loss. NeurIPS.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Unpack

import torch
import torch.nn.functional as F
from torch import Tensor

from anchored._checks import check_real
from anchored._errors import InputError
from anchored.losses._base import LabelledLogits, Loss, Options, in_single_precision
from anchored.losses._counts import Counts, check_counts, check_width

__all__ = ["LDAM", "MarginSoftmax"]


class MarginSoftmax(Loss):
    r"""Cross entropy of ``scale * logits`` with a margin subtracted from the label's logit only.

    .. math::  \ell(\mathbf f, y) = -\log \frac{e^{s (f_y - m_y)}}{e^{s (f_y - m_y)} + \sum_{j \ne y} e^{s f_j}} .

    Args:
        margins: One margin per class, ``(k,)``, in units of the logits; negative ones are allowed.
        scale: The factor s, above 0.
        options: ``weight``, ``reduction`` and ``ignore_index``, as for :class:`~anchored.losses.Loss`.

    Shape:
        logits ``(n, k)``; target ``(n,)`` int64 or ``(n, k)`` probabilities; out ``()``.

    Example:
        >>> import math, torch
        >>> MarginSoftmax([math.log(3), 0.0])(torch.zeros(1, 2), torch.tensor([0]))      # p = 1/3 / (1/3 + 1)
        tensor(1.3863)
    """

    _shown = "scale={self.scale:g}"

    margins: Tensor

    def __init__(self, margins: Tensor | Sequence[float], *, scale: float = 1.0, **options: Unpack[Options]) -> None:
        super().__init__(**options)
        given = torch.as_tensor(margins).detach().clone()
        given = given if given.is_floating_point() else given.to(torch.get_default_dtype())
        if given.ndim != 1 or not bool(torch.isfinite(given).all()):
            raise InputError(f"margins must hold one finite number per class, got {margins!r}")
        self.register_buffer("margins", given, persistent=False)
        self.scale = check_real("scale", scale, low=0, closed="neither")

    def per_class(self, logits: Tensor) -> Tensor:
        """Return values ``(n, k)``: for each label in turn, the margin is subtracted from that label's logit."""
        check_width(logits, self.margins, "margins")
        scaled = self.scale * in_single_precision(logits)
        # The loss is log(1 + e^(s m) (1 - p) / p) with p the softmax without margins, so one softmax serves
        # all labels. But e^(s m) may be in the millions, and 1 - p must be right to the last digit even
        # where p rounds to 1. At most one class has p > 1/2: it gets the log-sum-exp of the others.
        top = torch.zeros_like(scaled, dtype=torch.bool).scatter(1, scaled.argmax(dim=1, keepdim=True), True)
        others = scaled.masked_fill(top, -math.inf).logsumexp(dim=1, keepdim=True)
        log_p = F.log_softmax(scaled, dim=1).masked_fill(top, -1.0)  # any value that keeps the unused branch finite
        odds_against = torch.where(top, others - scaled, torch.log1p(-log_p.exp()) - log_p)
        raised = odds_against + self.scale * self.margins.to(scaled.dtype)
        return torch.logaddexp(raised, torch.zeros_like(raised))

    def _at(self, batch: LabelledLogits) -> Tensor:
        check_width(batch.logits, self.margins, "margins")
        margin = self.margins.to(batch.logits.dtype)[batch.labels]
        lowered = batch.logits.scatter_add(1, batch.labels[:, None], -margin[:, None])
        return F.cross_entropy(self.scale * lowered, batch.target, ignore_index=batch.ignore_index, reduction="none")


class LDAM(MarginSoftmax):
    """Margin softmax with margins set by the class counts: ``m_j = margin * (n_min / n_j) ** (1/4)``.

    Args:
        counts: Training samples of each class, ``(k,)``.
        margin: The margin of the rarest class, as a cosine. 0.5 on small sets, 0.3 on large ones.
        scale: The factor s of the cosines, above 0.
        options: ``weight``, ``reduction`` and ``ignore_index``, as for :class:`~anchored.losses.Loss`. Deferred
            re-weighting assigns to ``weight`` late in training.

    Shape:
        logits ``(n, k)``, cosines; target ``(n,)`` int64 or ``(n, k)`` probabilities; out ``()``.

    Example:
        >>> LDAM([1600, 100]).margins
        tensor([0.2500, 0.5000])
    """

    _shown = "margin={self.margin:g}, scale={self.scale:g}"

    def __init__(self, counts: Counts, *, margin: float = 0.5, scale: float = 30.0, **options: Unpack[Options]) -> None:
        checked = check_counts(counts)
        largest = check_real("margin", margin, low=0, closed="left")
        super().__init__(
            (largest * (checked.min() / checked) ** 0.25).to(torch.get_default_dtype()),
            scale=scale,
            **options,
        )
        self.margin = largest

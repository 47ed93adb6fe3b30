r"""Label-aware smoothing: cross entropy with labels that are smoothed more for more frequent classes.

.. math::  \ell(\mathbf p, y) = -(1 - \varepsilon_y) \log p_y - \frac{\varepsilon_y}{k} \sum_{j=1}^{k} \log p_j .

With :math:`t_j = (n_j - n_{\min}) / (n_{\max} - n_{\min})`, from 0 for the rarest to 1 for the most frequent
class, and :math:`\varepsilon_j` between tail and head as

=============  ==========================================================================
concave        :math:`\varepsilon_T + (\varepsilon_H - \varepsilon_T) \sin(\pi t_j / 2)`
linear         :math:`\varepsilon_T + (\varepsilon_H - \varepsilon_T)\, t_j`
convex         :math:`\varepsilon_H + (\varepsilon_H - \varepsilon_T) \sin(3\pi/2 + \pi t_j / 2)`
exponential    :math:`\varepsilon_T + (\varepsilon_H - \varepsilon_T)\, t_j^{\,p}`
=============  ==========================================================================

The mass :math:`\varepsilon` is spread over all k classes, as in the published code; the paper's text spreads it over
the others only. If all counts are equal, all classes get :math:`\varepsilon_T`.

References:
    Zhong, Cui, Liu and Jia, 2021. Improving Calibration for Long-Tailed Recognition. CVPR.
"""

from __future__ import annotations

import math
from typing import Literal, Unpack

import torch
import torch.nn.functional as F
from torch import Tensor

from anchored._checks import check_real
from anchored._errors import InputError
from anchored._names import choose
from anchored.losses._base import LabelledLogits, Loss, Options, in_single_precision
from anchored.losses._counts import Counts, check_counts, check_width

__all__ = ["LabelAwareSmoothing"]

Shape = Literal["concave", "linear", "convex", "exponential"]


class LabelAwareSmoothing(Loss):
    r"""Cross entropy with a smoothing :math:`\varepsilon_y` per class.

    .. math::  \ell(\mathbf p, y) = -(1 - \varepsilon_y) \log p_y - \frac{\varepsilon_y}{k} \sum_{j=1}^{k} \log p_j .

    Args:
        counts: Training samples of each class, ``(k,)``.
        smooth_head: Smoothing of the most frequent class, in ``[0, 1)``.
        smooth_tail: Smoothing of the rarest class, in ``[0, smooth_head]``.
        shape: How smoothing grows with the count: ``"concave"``, ``"linear"``, ``"convex"`` or ``"exponential"``.
        power: The exponent p of ``"exponential"``, above 0.
        options: ``weight``, ``reduction`` and ``ignore_index``, as for :class:`~anchored.losses.Loss`.

    Shape:
        logits ``(n, k)``; target ``(n,)`` int64 or ``(n, k)`` probabilities; out ``()``.

    Example:
        >>> LabelAwareSmoothing([100, 55, 10], smooth_head=0.4, smooth_tail=0.1, shape="linear").smoothing
        tensor([0.4000, 0.2500, 0.1000])
    """

    _shown = "smooth_head={self.smooth_head:g}, smooth_tail={self.smooth_tail:g}, shape={self.shape!r}"

    smoothing: Tensor

    def __init__(
        self,
        counts: Counts,
        *,
        smooth_head: float = 0.3,
        smooth_tail: float = 0.0,
        shape: Shape = "concave",
        power: float = 2.0,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(**options)
        checked = check_counts(counts)
        self.smooth_head = check_real("smooth_head", smooth_head, low=0, high=1, closed="left")
        self.smooth_tail = check_real("smooth_tail", smooth_tail, low=0, high=1, closed="left")
        if self.smooth_tail > self.smooth_head:
            raise InputError(
                f"smooth_tail must not exceed smooth_head, got {smooth_tail!r} and {smooth_head!r}; "
                f"the frequent classes are the ones that grow overconfident"
            )
        self.shape = shape
        self.power = check_real("power", power, low=0, closed="neither")
        spread = checked.max() - checked.min()
        rank = (checked - checked.min()) / torch.where(spread > 0, spread, 1.0)
        # Each shape as a curve from 0 to 1; the convex one is 1 + sin(3 pi/2 + pi t/2) = 1 - cos(pi t/2).
        curves = {
            "concave": (rank * math.pi / 2).sin(),
            "linear": rank,
            "convex": 1 - (rank * math.pi / 2).cos(),
            "exponential": rank**self.power,
        }
        curve = choose(shape, curves, what="shape")
        smoothing = self.smooth_tail + (self.smooth_head - self.smooth_tail) * curve
        self.register_buffer("smoothing", smoothing.to(torch.get_default_dtype()), persistent=False)

    def per_class(self, logits: Tensor) -> Tensor:
        """Return values ``(n, k)``: the cross entropy of every label, smoothed as much as that label asks for."""
        check_width(logits, self.smoothing, "counts")
        log_p = F.log_softmax(in_single_precision(logits), dim=1)
        smoothing = self.smoothing.to(log_p.dtype)
        return (smoothing - 1) * log_p - smoothing * log_p.mean(dim=1, keepdim=True)

    def _at(self, batch: LabelledLogits) -> Tensor:
        check_width(batch.logits, self.smoothing, "counts")
        smoothing = self.smoothing.to(batch.logits.dtype)[batch.labels]
        return (smoothing - 1) * batch.own_log_p - smoothing * batch.log_p.mean(dim=1)

r"""Anchored squared loss: the squared distance of the feature from the anchor of its label, written in the logits.

The anchors are a simplex: unit rows :math:`\mathbf w_j` with :math:`\mathbf w_i \cdot \mathbf w_j = -1/(k-1)`. They sum
to zero, and on the :math:`k-1` dimensions that they span

.. math::  \sum_{j=1}^{k} \mathbf w_j \mathbf w_j^\top = \frac{k}{k-1}\, I
           \qquad\text{so}\qquad
           \|\mathbf z\|^2 = \frac{k-1}{k} \sum_{j=1}^{k} f_j^2, \quad f_j = \mathbf w_j \cdot \mathbf z .

(The matrix on the left commutes with every permutation of the anchors, so it is a multiple of :math:`I`; its trace is
:math:`k`.) Hence the distance needs the logits only:

.. math::  \tfrac12 \|\mathbf z - \mathbf w_y\|^2 = -f_y + \tfrac12 \|\mathbf z\|^2 + \tfrac12
           = -f_y + \frac{k-1}{2k} \sum_{j=1}^{k} f_j^2 + \tfrac12 .

It is the negative sample logit with a price on the norm of the feature. The negative sample logit is unbounded below
unless the head normalises features; this loss has its minimum, 0, where the feature meets its anchor, so it suits a
head that does *not* normalise. On a head that does, the price is a constant and the two losses have the same gradient.

The row sums to :math:`\frac k2 (1 + \|\mathbf z\|^2)`. This is no constant, so the loss is not symmetric in the sense
of the other losses. Yet symmetric noise of rate :math:`\eta` only shrinks the minimiser, from
:math:`\mathbb E[\mathbf w_y \mid x]` to :math:`(1 - \eta k/(k-1))` times it: every prediction stays what it was. For
features that enter linearly, ``anchored.ridge`` minimises the same loss in closed form.

References:
    Zhou et al., 2022. Prototype-Anchored Learning for Learning with Imperfect Annotations. ICML (the loss without the
    price).
    Mroueh, Poggio, Rosasco and Slotine, 2012. Multiclass Learning with Simplex Coding. NeurIPS.
"""

from __future__ import annotations

from torch import Tensor

from anchored.losses._base import Loss, in_single_precision

__all__ = ["AnchoredSquared"]


class AnchoredSquared(Loss):
    r"""Half the squared distance of the feature from the anchor of its label.

    .. math::  \ell(\mathbf f, y) = -f_y + \frac{k-1}{2k} \sum_{j=1}^{k} f_j^2 + \tfrac12
               = \tfrac12 \|\mathbf z - \mathbf w_y\|^2 .

    The second equality holds on the logits :math:`f_j = \mathbf w_j \cdot \mathbf z` of simplex anchors
    (``k <= d + 1``), for the part of the feature that lies in their span; the rest of it changes no logit and costs
    nothing. Arguments as for :class:`~anchored.losses.Loss`.

    The properties are declared for arbitrary logits. There the loss is neither symmetric nor bounded, and it falls to
    :math:`-1/(2(k-1))`; logits of simplex anchors sum to zero, and on those it is never negative.

    Shape:
        logits ``(n, k)``; target ``(n,)`` int64 or ``(n, k)`` probabilities; out ``()``.

    Example:
        >>> import torch
        >>> from anchored.prototypes import simplex
        >>> anchors = simplex(4, 3, dtype=torch.float64)
        >>> loss = AnchoredSquared()
        >>> round(loss(2 * anchors @ anchors.T, torch.arange(4)).item(), 6)      # features at twice their anchors
        0.5
    """

    shift_invariant = False
    nonnegative = False

    def per_class(self, logits: Tensor) -> Tensor:
        """Return values ``(n, k)``: minus the logit, plus the price of the norm, which is the same for every label."""
        logits = in_single_precision(logits)
        k = logits.shape[1]
        return (k - 1) / (2 * k) * logits.square().sum(dim=1, keepdim=True) + 0.5 - logits

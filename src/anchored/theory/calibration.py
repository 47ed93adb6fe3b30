r"""Why unequal margins are not calibrated: the probability at which the prediction changes is no longer 1/2.

Two classes, margin loss with :math:`\alpha_+, \alpha_-`, and :math:`p = P(+ \mid x)`. With
:math:`u = s (w_+ - w_-)^\top z` the conditional risk is

.. math::  C(u) = p \log(1 + e^{-u-\alpha_+}) + (1-p) \log(1 + e^{u-\alpha_-}), \qquad |u| \le r = s\,\|w_+ - w_-\| ,

and + is predicted if the minimiser has u > 0. C is convex, so the sign of its slope at 0 decides, and for d >= 2

.. math::  \text{predict} + \iff p > p^* = \frac{1 + e^{\alpha_+}}{2 + e^{\alpha_+} + e^{\alpha_-}} .

The threshold is 1/2 only for equal margins. The paper looks at the two ends :math:`u = \pm r` alone. Nothing else
exists for d = 1, and there

.. math::  p^*_r = \frac{a_-}{a_+ + a_-}, \qquad a_\pm = \log\frac{1 + e^{r-\alpha_\pm}}{1 + e^{-r-\alpha_\pm}} ,

which tends to :math:`p^*` as r tends to 0. In higher dimension the minimum usually lies between the ends (for margins
of 0 at :math:`u = \log(p/(1-p))`), so the prediction does not change at the printed threshold. The theorem holds
with either.

LDAM subtracts a margin :math:`m_y \propto P(y)^{-1/4}` from the own cosine: :math:`\alpha_y = -s\,m_y`. Then the rarer
class has the smaller :math:`\alpha` and the threshold moves in its favour; with a plus sign, as printed, it moves
against it.

References:
    Zhou et al., 2022. Prototype-Anchored Learning for Learning with Imperfect Annotations. ICML. Theorem 3.3.
    Cao et al., 2019. Learning Imbalanced Datasets with Label-Distribution-Aware Margin Loss. NeurIPS.
"""

from __future__ import annotations

import math

from anchored._checks import check_real
from anchored.theory._arguments import check_radius
from anchored.theory.probability import softplus

__all__ = ["ldam_threshold"]


def ldam_threshold(alpha_plus: float, alpha_minus: float, r: float | None = None) -> float:
    r"""Return the :math:`P(+ \mid x)` above which the margin loss predicts +; a calibrated loss has 1/2.

    .. math::  p^* = \frac{1 + e^{\alpha_+}}{2 + e^{\alpha_+} + e^{\alpha_-}}, \qquad\text{or for } d = 1 \quad
               p^*_r = \frac{a_-}{a_+ + a_-}, \quad a_\pm = \log\frac{1 + e^{r-\alpha_\pm}}{1 + e^{-r-\alpha_\pm}} .

    Args:
        alpha_plus: Term added to the logit of class + if it is the label; LDAM's is ``-scale * margin``.
        alpha_minus: The same for class -.
        r: None for features of two or more dimensions. For one dimension (the paper's formula, which knows only the
            ends of the segment), ``scale * ||w_+ - w_-||``: twice the scale for anchored prototypes.

    Example:
        >>> rare, common = (-0.5 * prior**-0.25 for prior in (0.1, 0.9))
        >>> round(ldam_threshold(rare, common), 4)                # the rare class is +, and wins from 0.47 on
        0.4689
        >>> round(ldam_threshold(rare, common, r=2.0), 4)
        0.4731
        >>> ldam_threshold(0.3, 0.3)
        0.5
    """
    plus = check_real("alpha_plus", alpha_plus)
    minus = check_real("alpha_minus", alpha_minus)
    if r is None:
        return logistic(softplus(plus) - softplus(minus))
    r = check_radius("r", r)
    return logistic(log_gain(r, minus) - log_gain(r, plus))


def log_gain(r: float, alpha: float) -> float:
    r"""Return the logarithm of :math:`a = \log\frac{1+e^{r-\alpha}}{1+e^{-r-\alpha}}`, the gain between -r and r.

    Args:
        r: Half the length of the segment.
        alpha: Term added to the own logit.

    Example:
        >>> math.isclose(log_gain(2.0, 0.0), math.log(2.0))       # log (1 + e^2) / (1 + e^-2) = 2
        True
    """
    # a = log(1 + e^v); for large alpha both parts of the fraction round to 1, while log a is still about v.
    v = r + math.log(-math.expm1(-2 * r)) - alpha - softplus(-r - alpha)
    return math.log(softplus(v)) if v > -30 else v


def logistic(x: float) -> float:
    """Return ``1 / (1 + exp(-x))`` without overflow.

    Example:
        >>> logistic(0.0), logistic(-1e4), logistic(1e4)
        (0.5, 0.0, 1.0)
    """
    return math.exp(-softplus(-x))

r"""The confidence of an anchored softmax: features in the ball of radius s keep every probability inside an interval.

For simplex prototypes and :math:`\|z\| \le s`, each class probability obeys

.. math::  \frac{1}{1 + (k-1) \exp\bigl(s\sqrt{2k/(k-1)}\bigr)} \;\le\; p_j \;\le\;
           \frac{1}{1 + (k-1) \exp(-sk/(k-1))} .

The upper end is attained at :math:`z = s\,w_j` only (Jensen). The lower end holds because no logit gap exceeds
:math:`s\,\|w_i - w_j\|`. The paper prints :math:`1/(1 + (k-1)\exp(sk/(k-1)))` there, the value at :math:`z = -s\,w_j`,
which is too high for k >= 3 and large s: :math:`z \propto w_i - w_j` goes below it.

The same point :math:`z = s\,w_y` minimises the margin loss, whatever the per-class terms :math:`\alpha_y`:

.. math::  L_\alpha(z, y) \ge \log\Bigl[1 + (k-1) \exp\Bigl(-\frac{sk}{k-1} - \alpha_y\Bigr)\Bigr].

References:
    Zhou et al., 2022. Prototype-Anchored Learning for Learning with Imperfect Annotations. ICML. Proofs of Theorems
    3.2, 4.1, 4.2 and of Proposition 4.5.
"""

from __future__ import annotations

import math

from anchored._checks import check_real
from anchored.theory._arguments import check_classes, check_radius

__all__ = ["loss_floor", "max_probability", "probability_floor"]


def softplus(x: float) -> float:
    """Return ``log(1 + exp(x))`` without overflow.

    Example:
        >>> softplus(1000.0), softplus(0.0) == math.log(2)
        (1000.0, True)
    """
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def loss_floor(k: int, scale: float, alpha: float = 0.0) -> float:
    r"""Return the smallest value of the margin loss, :math:`\log[1 + (k-1)\exp(-sk/(k-1) - \alpha)]`.

    Args:
        k: Number of classes.
        scale: The paper's s: multiplier of the cosines, or bound on the feature norm.
        alpha: The term added to the own logit; a margin m that is subtracted, as in LDAM, is ``-scale * m``.

    Example:
        >>> round(loss_floor(10, 5.0), 4), round(loss_floor(10, 5.0, alpha=-2.0), 4)
        (0.0342, 0.2288)
    """
    k = check_classes(k)
    reach = check_radius("scale", scale) * k / (k - 1)
    return softplus(math.log(k - 1) - reach - check_real("alpha", alpha))


def max_probability(k: int, scale: float) -> float:
    r"""Return the largest softmax value, :math:`1/(1 + (k-1)\exp(-sk/(k-1)))`; it is attained at :math:`z = s\,w_y`.

    Args:
        k: Number of classes.
        scale: The paper's s: multiplier of the cosines, or bound on the feature norm.

    Example:
        >>> round(max_probability(10, 0.25 / 0.85), 4)          # why anchored probabilities need a temperature
        0.1335
    """
    return math.exp(-loss_floor(k, scale))


def probability_floor(k: int, scale: float) -> float:
    r"""Return a value that no softmax probability falls below, :math:`1/(1 + (k-1)\exp(s\sqrt{2k/(k-1)}))`.

    Args:
        k: Number of classes.
        scale: The paper's s: multiplier of the cosines, or bound on the feature norm.

    Example:
        >>> round(probability_floor(10, 1.0), 4)
        0.0244
    """
    k = check_classes(k)
    gap = check_radius("scale", scale) * math.sqrt(2 * k / (k - 1))
    return math.exp(-softplus(math.log(k - 1) + gap))

r"""The length that features should have if a share eta of the labels is wrong.

The paper sets

.. math::  s = \frac{0.25}{0.05 + \eta}

and says that s proportional to :math:`1/(\eta + \epsilon)` makes the risk bound independent of the noise. It makes it
vary less, not constant: with k = 10 the bound of Proposition 4.5 is 0.146, 0.070 and 0.175 at
:math:`\eta` = 0.1, 0.4 and 0.8.

A scale below which noise costs *nothing* can be computed if features are free and the true label is a function of x.
The noisy minimiser of cross entropy points to :math:`w_y` and grows until its probability is :math:`1 - \eta`, up to

.. math::  s_0 = \frac{k-1}{k} \log\frac{(1-\eta)(k-1)}{\eta} ,

so for :math:`s \le s_0` it is the clean minimiser :math:`s\,w_y`.

References:
    Zhou et al., 2022. Prototype-Anchored Learning for Learning with Imperfect Annotations. ICML. Sections 4.2 and 5.2.
    The second scale is not in the paper.
"""

from __future__ import annotations

import math

from anchored._checks import check_real
from anchored.theory._arguments import check_classes, check_noise_rate

__all__ = ["noise_aware_scale", "tolerant_scale"]


def noise_aware_scale(eta: float) -> float:
    r"""Return the paper's scale for cross entropy and its relatives, :math:`0.25/(0.05+\eta)`.

    Args:
        eta: Noise rate, in ``[0, 1)``; the nominal one for asymmetric noise.

    Example:
        >>> [round(noise_aware_scale(eta), 4) for eta in (0.0, 0.2, 0.8)]
        [5.0, 1.0, 0.2941]
    """
    return 0.25 / (0.05 + check_real("eta", eta, low=0, high=1, closed="left", way_out="give a share of labels"))


def tolerant_scale(k: int, eta: float) -> float:
    r"""Return the largest scale at which symmetric noise leaves free features where clean labels put them.

    .. math::  s_0 = \frac{k-1}{k} \log\frac{(1-\eta)(k-1)}{\eta} .

    Args:
        k: Number of classes.
        eta: Rate of symmetric noise, below (k-1)/k; without noise the scale is infinite.

    Example:
        >>> round(tolerant_scale(10, 0.8), 4), tolerant_scale(10, 0.0)
        (0.7298, inf)
    """
    k = check_classes(k)
    eta = check_noise_rate(eta, k)
    return math.inf if eta == 0 else (k - 1) / k * math.log((1 - eta) * (k - 1) / eta)

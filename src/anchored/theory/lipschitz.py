r"""How far a loss is from symmetric: the Lipschitz constant of its sum over labels, with anchored prototypes.

.. math::  L_W(z) = \sum_{i=1}^k L(W^\top z, i), \qquad
           \lambda = \sup_{\|z\| \le B} \|\nabla L_W(z)\| .

A symmetric loss has :math:`\lambda = 0`. For simplex prototypes and cross entropy the supremum is

.. math::  \lambda_{CE} = \frac{k (1 - t)}{1 + (k-1) t}, \qquad t = \exp\Bigl(-\frac{kB}{k-1}\Bigr),

attained at :math:`z = B\,w_y` for each y, and below k for every B.

For a loss :math:`\ell(p_i)` of the own probability write :math:`\varphi = -\ell'` and
:math:`H = \sum_i p_i \varphi(p_i)`. The gradient is H times the difference of two means of the prototypes, one under p,
one under :math:`\beta_i = p_i\varphi(p_i)/H`. If :math:`\varphi` varies by no more than a factor :math:`e^\delta` over
the classes,

.. math::  \lambda \le \sup H \cdot \min\Bigl\{ \sqrt{\tfrac{2k}{k-1}} \tanh\tfrac{\delta}{4},\;
           \sqrt{\tfrac{k M}{k-1}} \sinh\tfrac{\delta}{2} \Bigr\} ,

where M is ``max_probability(k, B)``. The first term is the distance of two prototypes times the largest total variation
between :math:`\beta` and p. The second is :math:`\sqrt{k/(k-1)}\,\|\beta - p\|` with the largest variance that a ratio
can have when it varies by that factor; it is the smaller one for short features.

* Generalised cross entropy: :math:`H = \sum p_i^q \le k^{1-q}` and :math:`\delta = (1-q) B \sqrt{2k/(k-1)}`.
* Focal: :math:`H \le (1+\gamma) \max\{k(1-1/k)^\gamma,\, k-1\}` and :math:`\delta = \log\varphi(a) - \log\varphi(b)`,
  where a and b are the ends of the interval that holds every probability, ``probability_floor(k, B)`` and M.

Both are upper bounds, not suprema; :func:`lipschitz_search` shows what a loss really reaches.

References:
    Zhou et al., 2022. Prototype-Anchored Learning for Learning with Imperfect Annotations. ICML. Proposition 4.5 and
    its appendix, which splits the gradient in this way and leaves the constants for these two losses open.
"""

from __future__ import annotations

import math

from anchored._checks import check_real
from anchored.theory._arguments import check_classes, check_radius
from anchored.theory.probability import max_probability, probability_floor

__all__ = ["lipschitz_ce", "lipschitz_focal", "lipschitz_gce"]


def lipschitz_ce(k: int, B: float) -> float:
    r"""Return the exact constant of cross entropy, :math:`k(1-t)/(1+(k-1)t)` with :math:`t = \exp(-kB/(k-1))`.

    Args:
        k: Number of classes.
        B: Bound on the norm of the features; the scale s if features are normalised.

    Example:
        >>> [round(lipschitz_ce(10, B), 3) for B in (5.0, 1.0, 0.2941)]
        [9.626, 1.693, 0.372]
    """
    k = check_classes(k)
    reach = check_radius("B", B) * k / (k - 1)
    # 1 - t as -expm1(-reach): for small B the plain difference has no correct digits left.
    return -k * math.expm1(-reach) / (1 + (k - 1) * math.exp(-reach))


def lipschitz_gce(k: int, B: float, q: float) -> float:
    r"""Return an upper bound for generalised cross entropy, from :math:`H = \sum_i p_i^q \le k^{1-q}`.

    The bound is :math:`k^{1-q}` times :func:`distance_of_means` with :math:`\delta = (1-q) B \sqrt{2k/(k-1)}`.

    Args:
        k: Number of classes.
        B: Bound on the norm of the features.
        q: The exponent, in ``(0, 1]``; at 1 the loss is symmetric and the bound is 0.

    Example:
        >>> round(lipschitz_gce(10, 1.0, q=0.7), 3), lipschitz_gce(10, 1.0, q=1.0)
        (0.238, 0.0)
    """
    k = check_classes(k)
    q = check_real("q", q, low=0, high=1, closed="right", way_out="for q = 0 use lipschitz_ce")
    delta = (1 - q) * check_radius("B", B) * math.sqrt(2 * k / (k - 1))
    return math.pow(k, 1 - q) * distance_of_means(k, B, delta)


def lipschitz_focal(k: int, B: float, gamma: float) -> float:
    r"""Return an upper bound for the focal loss, from :math:`H \le (1+\gamma) \max\{k(1-1/k)^\gamma, k-1\}`.

    The bound is that of H times :func:`distance_of_means`, with the :math:`\delta` of the interval of all
    probabilities.

    Args:
        k: Number of classes.
        B: Bound on the norm of the features.
        gamma: The focusing exponent, at least 0; at 0 the loss is cross entropy, whose exact constant is smaller.

    Example:
        >>> round(lipschitz_focal(10, 1.0, gamma=0.5), 2)
        10.74
    """
    k = check_classes(k)
    gamma = check_real("gamma", gamma, low=0)
    total = (1 + gamma) * max(k * math.pow(1 - 1 / k, gamma), k - 1)
    delta = log_slope_focal(probability_floor(k, B), gamma) - log_slope_focal(max_probability(k, B), gamma)
    return total * distance_of_means(k, B, delta)


def distance_of_means(k: int, B: float, delta: float) -> float:
    r"""Return how far reweighting by a factor of at most :math:`e^\delta` can move the mean prototype.

    .. math::  \min\Bigl\{ \sqrt{\tfrac{2k}{k-1}} \tanh\tfrac{\delta}{4},\;
               \sqrt{\tfrac{k M}{k-1}} \sinh\tfrac{\delta}{2} \Bigr\}, \qquad M = \text{max\_probability}(k, B).

    Args:
        k: Number of classes.
        B: Bound on the norm of the features.
        delta: Logarithm of the largest factor.

    Example:
        >>> distance_of_means(2, 1.0, math.inf)                   # from one prototype to the other
        2.0
    """
    by_variation = math.sqrt(2 * k / (k - 1)) * math.tanh(delta / 4)
    if delta > 8:  # sinh is far above every tanh by then, and would overflow
        return by_variation
    return min(by_variation, math.sqrt(k * max_probability(k, B) / (k - 1)) * math.sinh(delta / 2))


def log_slope_focal(p: float, gamma: float) -> float:
    r"""Return the logarithm of the slope :math:`-\ell'(p) = (1-p)^\gamma/p - \gamma(1-p)^{\gamma-1}\log p`.

    It falls from inf at p = 0 to -inf at p = 1.

    Args:
        p: Probability of the label.
        gamma: The focusing exponent.

    Example:
        >>> log_slope_focal(0.5, 0.0) == math.log(2)            # cross entropy: 1/p
        True
    """
    if gamma == 0:
        return -math.log(p)
    if p <= 0:
        return math.inf
    if p >= 1:
        return -math.inf
    # The common factor (1-p)**gamma leaves log p / (1-p), which stays finite as p tends to 1.
    return gamma * math.log1p(-p) + math.log(1 / p - gamma * math.log(p) / (1 - p))

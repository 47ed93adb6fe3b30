r"""The cost of symmetric label noise: a bound on the clean risk of the noisy minimiser.

With :math:`\tilde y = y` with probability :math:`1 - \eta` and any other label with :math:`\eta/(k-1)` each,

.. math::  R^\eta_L(f) = \Bigl(1 - \frac{\eta k}{k-1}\Bigr) R_L(f) + \frac{\eta}{k-1}\, \mathbb E\, L_W(\phi(x)),
           \qquad L_W(z) = \sum_{i=1}^k L(W^\top z, i).

Let :math:`\hat f` minimise the left side and :math:`f^*` the clean risk over the same functions, with features in the
ball of radius B, and let :math:`L_W` be :math:`\lambda`-Lipschitz there. For :math:`\eta < (k-1)/k`

.. math::  R_L(\hat f) - R_L(f^*) \le \frac{2 \eta \lambda B}{(1-\eta) k - 1} .

References:
    Zhou et al., 2022. Prototype-Anchored Learning for Learning with Imperfect Annotations. ICML. Theorem 4.4 and
    Proposition 4.5.
"""

from __future__ import annotations

from anchored._checks import check_real
from anchored.theory._arguments import check_classes, check_noise_rate, check_radius
from anchored.theory.lipschitz import lipschitz_ce

__all__ = ["risk_bound", "risk_bound_ce"]


def risk_bound(k: int, eta: float, lipschitz: float, B: float) -> float:
    r"""Return the bound for any loss, :math:`2\eta\lambda B/((1-\eta)k-1)`.

    Args:
        k: Number of classes.
        eta: Rate of symmetric noise, below (k-1)/k.
        lipschitz: Lipschitz constant of the sum over labels; 0 for a symmetric loss.
        B: Bound on the norm of the features.

    Example:
        >>> from anchored.theory import lipschitz_gce
        >>> round(risk_bound(10, 0.4, lipschitz_gce(10, 1.0, q=0.7), B=1.0), 4)
        0.0381
        >>> risk_bound(10, 0.8, lipschitz=0.0, B=1.0)             # symmetric: the noise costs nothing
        0.0
    """
    k = check_classes(k)
    eta = check_noise_rate(eta, k)
    return 2 * eta * check_real("lipschitz", lipschitz, low=0) * check_radius("B", B) / ((1 - eta) * k - 1)


def risk_bound_ce(k: int, eta: float, B: float) -> float:
    r"""Return the bound for cross entropy over anchored prototypes: :func:`risk_bound` with :func:`lipschitz_ce`.

    In the paper's letters :math:`2c\eta k(1-t)B/(k-1+t(k-1)^2)`, :math:`c = (k-1)/((1-\eta)k-1)`,
    :math:`t = \exp(-kB/(k-1))`.

    Args:
        k: Number of classes.
        eta: Rate of symmetric noise, below (k-1)/k.
        B: Bound on the norm of the features; the scale s if features are normalised.

    Example:
        >>> round(risk_bound_ce(10, 0.2, B=1.0), 4)
        0.0967
    """
    return risk_bound(k, eta, lipschitz_ce(k, B), B)

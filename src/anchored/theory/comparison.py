r"""The constants that anchoring is compared with: those of prototypes that may be anywhere.

For cross entropy, :math:`\nabla L_W(z) = \sum_i (1 - k p_i) w_i`. The paper lets W vary and bounds the supremum of its
norm from below in three cases:

1. prototypes of any length: infinite (let :math:`w_i = t z` with t growing);
2. unit prototypes, features of any length: at least k;
3. unit prototypes, features of length B: at least :math:`2(e^{2B} - 1)/(e^{2B}/(k-1) + 1)`,
   the value at :math:`w_1 = z/B`, all other prototypes :math:`-z/B`.

The exact supremum of case 3 is reached with m prototypes at :math:`z/B` and the others opposite,

.. math::  \max_{1 \le m < k} \frac{2 m (k-m) (1 - e^{-2B})}{m + (k-m) e^{-2B}} ,

because :math:`\|\sum_i (1-kp_i) w_i\| \le \sum_i |1 - kp_i|` and no two probabilities differ by more than a factor
:math:`e^{2B}`. As B grows it tends to 2(k-1), the exact supremum of case 2, which is at least k.

All exceed ``lipschitz_ce(k, B)``, except that for k = 2 case 3 *is* the simplex and equals it.

References:
    Zhou et al., 2022. Prototype-Anchored Learning for Learning with Imperfect Annotations. ICML. Remark after
    Proposition 4.5 and its appendix; the exact suprema are not in the paper.
"""

from __future__ import annotations

import math

from anchored.theory._arguments import check_classes, check_radius

__all__ = [
    "lipschitz_ce_unanchored",
    "lipschitz_ce_unit_both",
    "lipschitz_ce_unit_prototypes",
    "lipschitz_ce_unnormalized",
]


def lipschitz_ce_unnormalized(k: int) -> float:
    """Return infinity: with prototypes of any length (case 1) no Lipschitz constant exists.

    Args:
        k: Number of classes.

    Example:
        >>> lipschitz_ce_unnormalized(10)
        inf
    """
    check_classes(k)
    return math.inf


def lipschitz_ce_unit_prototypes(k: int) -> float:
    """Return the paper's lower bound k for unit prototypes and features of any length (case 2).

    Args:
        k: Number of classes.

    Example:
        >>> lipschitz_ce_unit_prototypes(10)
        10.0
    """
    return float(check_classes(k))


def lipschitz_ce_unit_both(k: int, B: float) -> float:
    r"""Return the paper's lower bound for unit prototypes and features of length B (case 3).

    .. math::  \frac{2(e^{2B} - 1)}{e^{2B}/(k-1) + 1} .

    Args:
        k: Number of classes.
        B: Length of the features.

    Example:
        >>> round(lipschitz_ce_unit_both(10, 1.0), 3)           # 1.693 with anchors
        7.017
    """
    return opposite_groups(check_classes(k), 1, check_radius("B", B))


def lipschitz_ce_unanchored(k: int, B: float = math.inf) -> float:
    r"""Return the exact supremum over unit prototypes and features of length at most B.

    .. math::  \max_{1 \le m < k} \frac{2 m (k-m) (1 - e^{-2B})}{m + (k-m) e^{-2B}} .

    Args:
        k: Number of classes.
        B: Bound on the norm of the features; infinity gives 2(k-1).

    Example:
        >>> round(lipschitz_ce_unanchored(10, 1.0), 3), lipschitz_ce_unanchored(10)
        (9.2, 18.0)
    """
    k = check_classes(k)
    if math.isinf(B) and B > 0:
        return 2.0 * (k - 1)
    B = check_radius("B", B)
    # The value is concave in m (substitute u = m + (k-m)exp(-2B)), with its peak at m = k / (1 + exp(B)).
    peak = k / (1 + math.exp(min(B, 700.0)))
    return max(opposite_groups(k, min(max(m, 1), k - 1), B) for m in (math.floor(peak), math.ceil(peak)))


def opposite_groups(k: int, m: int, B: float) -> float:
    r"""Return the gradient norm with m unit prototypes along z and the other k - m opposite to it.

    .. math::  \frac{2 m (k-m) (1 - e^{-2B})}{m + (k-m) e^{-2B}} .

    Args:
        k: Number of classes.
        m: Number of prototypes along z.
        B: Length of the feature.

    Example:
        >>> opposite_groups(2, 1, 1.0) == 2 * math.tanh(1.0)
        True
    """
    t = math.exp(-2 * B)
    return -2 * m * (k - m) * math.expm1(-2 * B) / (m + (k - m) * t)

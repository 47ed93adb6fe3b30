r"""The largest minimal sample margin: k/(k-1) on the sphere, sqrt(k/(k-1)) if no feature may be negative.

.. math::  \gamma(z, y) = w_y^\top z - \max_{j \ne y} w_j^\top z,
           \qquad \gamma_{\min} = \min_i \gamma(z_i, y_i).

Let the prototypes be unit vectors, let :math:`\|z_i\| \le B` and let every class have a sample. Replacing the best
rival by the mean rival, and the worst class by the mean class, gives

.. math::  \gamma_{\min} \le \frac{1}{k-1} \sum_{y=1}^k (w_y - \bar w)^\top (z_y - \bar z)
           \le \frac{1}{k-1} \, \|W - \bar w\|_F \, \|Z - \bar z\|_F .

The first norm is at most :math:`\sqrt k`. The second is at most :math:`B\sqrt k`, hence :math:`kB/(k-1)`; it is at most
:math:`B\sqrt{k-1}` for features without negative entries, as these have :math:`\|\sum_y z_y\|^2 \ge \sum_y \|z_y\|^2`,
hence :math:`B\sqrt{k/(k-1)}`. A simplex attains both, the second one if it is aligned with the orthant and k <= d.

References:
    Zhou et al., 2022. Prototype-Anchored Learning for Learning with Imperfect Annotations. ICML. Lemma 3.1 and
    Theorems 3.2, 4.1, 4.2. The bound for features without negative entries is not in the paper.
"""

from __future__ import annotations

import math

from anchored.theory._arguments import check_classes, check_radius

__all__ = ["max_margin", "max_margin_nonnegative"]


def max_margin(k: int, B: float = 1.0) -> float:
    """Return the largest minimal sample margin, :math:`kB/(k-1)`; it is attained for k <= d + 1.

    Args:
        k: Number of classes.
        B: Bound on the norm of the features; 1 on the unit sphere.

    Example:
        >>> max_margin(5), max_margin(5, B=4.0)
        (1.25, 5.0)
    """
    k = check_classes(k)
    return check_radius("B", B) * k / (k - 1)


def max_margin_nonnegative(k: int, B: float = 1.0) -> float:
    r"""Return the largest minimal sample margin of features without negative entries, :math:`B\sqrt{k/(k-1)}`.

    It is attained for k <= d by ``prototypes.simplex(k, d, orientation="orthant")``.

    Args:
        k: Number of classes.
        B: Bound on the norm of the features.

    Example:
        >>> round(max_margin_nonnegative(10), 4), round(max_margin(10), 4)
        (1.0541, 1.1111)
    """
    k = check_classes(k)
    return check_radius("B", B) * math.sqrt(k / (k - 1))

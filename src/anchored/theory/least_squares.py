r"""Squared distance to the anchor: the negative sample logit with a price on the norm, solved in closed form.

.. math::  \tfrac12 \lVert z - w_y \rVert^2 = -w_y \cdot z + \tfrac12 \lVert z \rVert^2 + \tfrac12

Its regression function is :math:`E[w_y \mid x]`. Symmetric noise of rate :math:`\eta` replaces each anchor by its
expectation

.. math::  (1 - \eta)\, w_y + \frac{\eta}{k-1} \sum_{j \ne y} w_j = \Bigl(1 - \frac{\eta k}{k-1}\Bigr) w_y ,

because the anchors of a simplex sum to zero: the regression shrinks, and every prediction stays what it was.

References:
    Zhou et al., 2022. Prototype-Anchored Learning for Learning with Imperfect Annotations. ICML. Proposition 4.3 (NSL).
    The closed form is not in the paper.
"""

from __future__ import annotations

from anchored._checks import check_real
from anchored.theory._arguments import check_classes, check_noise_rate

__all__ = ["anchored_squared", "left_out", "noise_shrinkage"]


def anchored_squared(logit: float, norm: float) -> float:
    r"""Return half the squared distance to the anchor, :math:`-w_y \cdot z + \frac12\lVert z\rVert^2 + \frac12`.

    Args:
        logit: Inner product :math:`w_y \cdot z` with the unit anchor, at most the norm.
        norm: Length :math:`\lVert z \rVert` of the feature.

    Example:
        >>> anchored_squared(1.0, 1.0), anchored_squared(-1.0, 1.0)          # at the anchor, and opposite to it
        (0.0, 2.0)
    """
    norm = check_real("norm", norm, low=0)
    logit = check_real("logit", logit, low=-norm, high=norm, way_out="an anchor has length 1")
    return -logit + norm**2 / 2 + 0.5


def noise_shrinkage(k: int, eta: float) -> float:
    r"""Return the factor :math:`1 - \eta k/(k-1)` by which symmetric noise shrinks the regression onto a simplex.

    Args:
        k: Number of classes.
        eta: Rate of symmetric noise, below (k-1)/k; there the factor would be zero.

    Example:
        >>> round(noise_shrinkage(10, 0.4), 4), noise_shrinkage(2, 0.25)
        (0.5556, 0.5)
    """
    k = check_classes(k)
    return 1.0 - check_noise_rate(eta, k) * k / (k - 1)


def left_out(prediction: float, target: float, leverage: float) -> float:
    r"""Return what least squares would predict for a sample without it, :math:`(\hat t - h t)/(1 - h)`.

    Args:
        prediction: Prediction :math:`\hat t` of the fit on all samples.
        target: The sample's own target t.
        leverage: Its leverage h, the weight of its own target in its prediction, in ``[0, 1)``.

    Example:
        >>> left_out(2.0, 5.0, 0.25)            # the mean of 5, 1, 1, 1 is 2; without the 5 it is 1
        1.0
    """
    prediction, target = check_real("prediction", prediction), check_real("target", target)
    h = check_real("leverage", leverage, low=0, high=1, closed="left")
    return (prediction - h * target) / (1.0 - h)

"""How sure a share can be: Wilson's interval for a proportion, and what chance does to a difference of two."""

from __future__ import annotations

import math

__all__ = ["chance_difference", "wilson"]

_Z = 1.959964  # 95 % of a normal law lie within so many standard deviations


def wilson(share: float, n: int) -> tuple[float, float]:
    r"""Compute Wilson's 95 % interval of a share.

    .. math::  \frac{\hat p + \frac{z^2}{2n} \pm z\sqrt{\frac{\hat p (1 - \hat p)}{n} + \frac{z^2}{4 n^2}}}{1 + z^2/n},
               \qquad z = 1.96.

    It stays inside [0, 1], and has a width even if all or none of the n answers are right.

    Args:
        share: Observed share, between 0 and 1.
        n: Number of samples it was observed in.

    Returns:
        Lower and upper end; ``(0, 1)`` if there is no sample.

    References:
        Wilson, 1927. Probable Inference, the Law of Succession, and Statistical Inference. JASA.

    Example:
        >>> [round(end, 3) for end in wilson(1.0, 20)]
        [0.839, 1.0]
    """
    if n <= 0:
        return 0.0, 1.0
    z2 = _Z**2 / n
    middle = share + z2 / 2
    spread = _Z * math.sqrt(share * (1 - share) / n + z2 / (4 * n))
    return max(0.0, (middle - spread) / (1 + z2)), min(1.0, (middle + spread) / (1 + z2))


def chance_difference(first: float, n_first: int, second: float, n_second: int) -> float:
    r"""Compute how far two shares of independent samples differ by chance alone, in at most 95 of 100 cases.

    .. math::  z\sqrt{\bar p (1 - \bar p) (1/n_1 + 1/n_2)}, \qquad \bar p = \frac{n_1 p_1 + n_2 p_2}{n_1 + n_2}.

    Args:
        first: First share.
        n_first: Number of samples of the first share.
        second: Second share.
        n_second: Number of samples of the second share.

    Example:
        >>> round(chance_difference(0.9, 100, 0.9, 100), 3)
        0.083
    """
    pooled = (first * n_first + second * n_second) / (n_first + n_second)
    return _Z * math.sqrt(pooled * (1 - pooled) * (1 / n_first + 1 / n_second))

r"""Samples per class under an imbalance ratio: a long tail, or a step.

.. math::  n_j = \lfloor n_{\max}\, \rho^{-j/(k-1)} \rfloor \quad\text{(long tail)},
           \qquad
           n_j = n_{\max} \text{ for } j < \lfloor k/2 \rfloor,\
           \lfloor n_{\max}/\rho \rfloor \text{ otherwise (step)}.

Classes stay in their natural order, the largest first. The references state the factor
:math:`f = 1/\rho` (0.01); here it is always the ratio (100).

References:
    Cui et al., 2019. Class-Balanced Loss Based on Effective Number of Samples. CVPR.
    Cao et al., 2019. Learning Imbalanced Datasets with Label-Distribution-Aware Margin Loss. NeurIPS.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from anchored._checks import check_integer, check_real
from anchored._names import choose

__all__ = ["counts"]


def counts(n_max: int, k: int, rho: float, kind: Literal["longtail", "step"] = "longtail") -> tuple[int, ...]:
    """Samples per class ``(n_0, ..., n_{k-1})``, from ``n_max`` down to ``floor(n_max / rho)``.

    Args:
        n_max: Samples of the largest class, e.g. 5000 for CIFAR-10 and 500 for CIFAR-100.
        k: Number of classes.
        rho: Largest over smallest class, from 1 (balanced) to ``n_max`` (a last class of one sample).
        kind: ``"longtail"`` falls geometrically; ``"step"`` keeps the first ``k // 2`` classes whole.

    Example:
        >>> counts(5000, 10, 100)
        (5000, 2997, 1796, 1077, 645, 387, 232, 139, 83, 50)
        >>> sum(counts(500, 100, 100)), counts(500, 4, 10, kind="step")
        (10847, (500, 500, 50, 50))
    """
    n_max = check_integer("n_max", n_max, low=1)
    k = check_integer("k", k, low=2)
    rho = check_real(
        "rho",
        rho,
        low=1,
        high=n_max,
        way_out=f"it is the ratio largest / smallest class (100, not 0.01), and at most n_max = {n_max} "
        f"leaves every class a sample",
    )
    return choose(kind, _KINDS, what="kind of imbalance")(n_max, k, rho)


def _truncated(share: float) -> int:
    # 49 * 49 ** -1.0 is 0.9999999999999999: rounding must not cost a sample where the product is whole.
    return math.floor(share * (1 + 1e-12))


def _longtail(n_max: int, k: int, rho: float) -> tuple[int, ...]:
    return tuple(_truncated(n_max * rho ** (-j / (k - 1))) for j in range(k))


def _step(n_max: int, k: int, rho: float) -> tuple[int, ...]:
    return (n_max,) * (k // 2) + (_truncated(n_max / rho),) * (k - k // 2)


_KINDS: dict[str, Callable[[int, int, float], tuple[int, ...]]] = {"longtail": _longtail, "step": _step}

r"""Class weights by the effective number of samples.

.. math::  w_j \propto \frac{1}{E_j}, \qquad E_j = \frac{1 - \beta^{n_j}}{1 - \beta}, \qquad \sum_j w_j = k .

:math:`E_j` counts samples as if each new one overlapped what is there already: :math:`\beta = 0` gives
:math:`E_j = 1`, equal weights; :math:`\beta \to 1` gives :math:`E_j = n_j`, weights inverse to the counts.

References:
    Cui, Jia, Lin, Song and Belongie, 2019. Class-Balanced Loss Based on Effective Number of Samples. CVPR.
"""

from __future__ import annotations

import torch
from torch import Tensor

from anchored._checks import check_real
from anchored.losses._counts import Counts, check_counts

__all__ = ["class_balanced_weights"]


def class_balanced_weights(counts: Counts, beta: float = 0.9999) -> Tensor:
    r"""Return class weights by the effective number of samples, for the ``weight`` of any loss.

    .. math::  w_j \propto \frac{1}{E_j}, \qquad E_j = \frac{1 - \beta^{n_j}}{1 - \beta}, \qquad \sum_j w_j = k .

    A class without samples has no effective number and is refused.

    Args:
        counts: Training samples of each class, ``(k,)``, all positive.
        beta: Overlap, in ``[0, 1)``.

    Returns:
        Weights ``(k,)`` in float32 that sum to ``k``.

    Example:
        >>> class_balanced_weights([300, 100], beta=0.0)
        tensor([1., 1.])
        >>> class_balanced_weights([300, 100], beta=0.99999999)      # near 1 : 3
        tensor([0.5000, 1.5000])
    """
    samples = check_counts(counts)
    overlap = torch.tensor(check_real("beta", beta, low=0, high=1, closed="left"), dtype=torch.float64)
    # beta**n as exp(n log beta), and 1 - that as -expm1: right for beta near 1, where 1 - beta**n cancels.
    # The factor 1 - beta drops out of the rescaling.
    inverse = -1 / torch.expm1(samples * overlap.log())
    return (inverse * (len(samples) / inverse.sum())).to(torch.float32)

r"""Sample margins: how far the true logit stands above its best rival.

.. math::  \gamma(x, y) = f_y(x) - \max_{j \ne y} f_j(x), \qquad \gamma_{\min} = \min_i \gamma(x_i, y_i).

With unit features and unit prototypes the smallest margin is at most :math:`k/(k-1)`, and reaches that only on a
simplex.

References:
    Zhou et al., 2022. Prototype-Anchored Learning for Learning with Imperfect Annotations. ICML.
"""

from __future__ import annotations

import math

import torch.nn.functional as F
from torch import Tensor

from anchored.metrics._inputs import checked_scores, checked_target

__all__ = ["cosine_margins", "minimal_margin", "sample_margins"]


def sample_margins(logits: Tensor, target: Tensor) -> Tensor:
    r"""Return the margin of each sample, :math:`\gamma(x, y) = f_y(x) - \max_{j \ne y} f_j(x)`.

    Args:
        logits: Logits ``(n, k)``.
        target: True labels ``(n,)``.

    Returns:
        Margins ``(n,)``, negative for a misclassified sample.

    Example:
        >>> import torch
        >>> sample_margins(torch.tensor([[2.0, 0.5, 1.0], [0.0, 3.0, 1.0]]), torch.tensor([0, 2]))
        tensor([ 1., -2.])
    """
    logits = checked_scores(logits, name="logits")
    target = checked_target(target, *logits.shape).to(logits.device)[:, None]
    rival = logits.scatter(1, target, -math.inf).amax(dim=1)
    return logits.gather(1, target).squeeze(1) - rival


def minimal_margin(logits: Tensor, target: Tensor) -> float:
    r"""Return the smallest of all sample margins, :math:`\gamma_{\min} = \min_i \gamma(x_i, y_i)`.

    Args:
        logits: Logits ``(n, k)``.
        target: True labels ``(n,)``.

    Example:
        >>> import torch
        >>> minimal_margin(torch.tensor([[2.0, 0.5], [0.0, 3.0]]), torch.tensor([0, 1]))
        1.5
    """
    return sample_margins(logits, target).min().item()


def cosine_margins(features: Tensor, rows: Tensor, labels: Tensor) -> dict[str, float]:
    r"""Return the sample margins of cosines instead of logits, so that heads of any scale can be compared.

    .. math::  \gamma(x, y) = \cos(z, w_y) - \max_{j \ne y} \cos(z, w_j) \le \frac{k}{k-1},

    with equality for all samples at once only on a simplex.

    Args:
        features: Features ``(n, d)``.
        rows: Class directions ``(k, d)``.
        labels: True labels ``(n,)``.

    Returns:
        The smallest margin as ``"gamma_min"`` and the mean one as ``"gamma_mean"``.

    Example:
        >>> import torch
        >>> corners = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
        >>> cosine_margins(5 * corners, corners, torch.tensor([0, 1]))
        {'gamma_min': 2.0, 'gamma_mean': 2.0}
    """
    cosines = F.normalize(features.double(), dim=1) @ F.normalize(rows.double(), dim=1).T
    margins = sample_margins(cosines, labels)
    return {"gamma_min": float(margins.min()), "gamma_mean": float(margins.mean())}

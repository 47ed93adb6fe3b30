r"""Sample margins: how far the true logit stands above its best rival.

.. math::  \gamma(x, y) = f_y(x) - \max_{j \ne y} f_j(x), \qquad \gamma_{\min} = \min_i \gamma(x_i, y_i).

With unit features and unit prototypes it is at most :math:`k/(k-1)` for all samples at once, and
reaches that only on a simplex.

References:
    Zhou et al., 2022. Prototype-Anchored Learning for Learning with Imperfect Annotations. ICML.
"""

from __future__ import annotations

import math

from torch import Tensor

from anchored.metrics._inputs import checked_scores, checked_target

__all__ = ["minimal_margin", "sample_margins"]


def sample_margins(logits: Tensor, target: Tensor) -> Tensor:
    """Margin of each sample ``(n,)``: negative where the sample is misclassified.

    Args:
        logits: ``(n, k)``.
        target: True labels ``(n,)``.

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
    """The smallest of all sample margins.

    Example:
        >>> import torch
        >>> minimal_margin(torch.tensor([[2.0, 0.5], [0.0, 3.0]]), torch.tensor([0, 1]))
        1.5
    """
    return sample_margins(logits, target).min().item()

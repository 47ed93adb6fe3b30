r"""What to learn from labels that are partly wrong: each as far as it can be trusted.

.. math::  v_n = \frac{t_n}{\max_{m : \tilde y_m = \tilde y_n} t_m}, \qquad t_n = q_{\tilde y_n}(x_n, \tilde y_n),

where q is the posterior of the true label (:class:`anchored.audit.LabelNoise`). A label that stands firm counts fully,
one that is surely wrong does not count at all. The posterior comes from a model that did not see the sample, so an
error does not confirm itself. Each class's most trusted sample counts fully, so that no class dies out.

Doubtful labels are not replaced by likelier ones. In trials that did about as well on balanced classes, and worse by
six points if classes were rare and noise was high (docs/lab/auto.md); suggestions may repeat their models' mistakes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from anchored.data import Dataset

__all__ = ["TrustedLabels", "trust_labels"]


@dataclass(frozen=True, eq=False)
class TrustedLabels:
    """Labels to train on, each weighted by how far it can be trusted.

    Attributes:
        dataset: The same samples and labels, with weights.
        doubted: How many labels are more probably wrong than right.
        residual: The share of wrong labels that is left, by weight.
    """

    dataset: Dataset
    doubted: int
    residual: float


def trust_labels(dataset: Dataset, posterior: Tensor) -> TrustedLabels:
    r"""Weight each label by its trust: :math:`v_n = t_n / \max_m t_m` over the samples m of the same label.

    Args:
        dataset: The data with the labels given.
        posterior: Probabilities ``(n, k)`` of the true labels.

    Returns:
        The weighted labels, and how much doubt there is.

    Example:
        >>> from anchored.data import TensorInputs
        >>> data = Dataset("toy", TensorInputs(torch.zeros(3, 2)), torch.tensor([0, 1, 1]), ("a", "b"))
        >>> trusted = trust_labels(data, torch.tensor([[1.0, 0.0], [0.8, 0.2], [0.2, 0.8]]))
        >>> trusted.dataset.weights, trusted.doubted
        (tensor([1.0000, 0.2500, 1.0000]), 1)
    """
    trust = posterior.gather(1, dataset.labels[:, None])[:, 0]
    most = trust.new_zeros(dataset.k).scatter_reduce_(0, dataset.labels, trust, "amax")
    weights = trust / most[dataset.labels].clamp(min=torch.finfo(trust.dtype).tiny)
    if dataset.weights is not None:
        weights = weights * dataset.weights
    return TrustedLabels(
        replace(dataset, weights=weights),
        int((trust < 0.5).sum()),
        float(((1 - trust) * weights).sum() / weights.sum()),
    )

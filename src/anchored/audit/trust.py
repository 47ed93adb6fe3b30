r"""What to learn from labels that are partly wrong.

With the posterior q of the true label (:class:`anchored.audit.LabelNoise`) and the trust
:math:`t_n = q_{\tilde y_n}(x_n, \tilde y_n)` in the label that is given, there are four ways:

===========  =========================================================================================
given        every label counts as it is
cleaned      a label counts as far as it is trusted, :math:`v_n = t_n / \max_{m : \tilde y_m = \tilde y_n} t_m`
sure         a label counts if it is more probably right than wrong, and else not at all
replaced     the likeliest class takes the label's place, and counts as far as it is probable, :math:`\max_j q_j`
===========  =========================================================================================

The posterior comes from models that did not see the sample, so an error does not confirm itself. Each class's most
trusted sample counts fully, so that no class dies out. Which way is taken is decided by evidence
(:mod:`anchored.audit.treatments`) if the data is vectors, and is ``cleaned`` otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from anchored._names import choose
from anchored.data import Dataset

__all__ = ["TREATMENTS", "TrustedLabels", "treated", "trust_labels"]


@dataclass(frozen=True, eq=False)
class TrustedLabels:
    """Labels to train on, each weighted by how far it can be trusted.

    Attributes:
        dataset: The same samples with weights, and with other labels if they were replaced.
        doubted: How many labels are more probably wrong than right.
        residual: The share of wrong labels that is left, by weight.
    """

    dataset: Dataset
    doubted: int
    residual: float


def _cleaned(labels: Tensor, posterior: Tensor) -> tuple[Tensor, Tensor]:
    trust = _trust(labels, posterior)
    most = trust.new_zeros(posterior.shape[1]).scatter_reduce_(0, labels, trust, "amax")
    return labels, trust / most[labels].clamp(min=torch.finfo(trust.dtype).tiny)


def _sure(labels: Tensor, posterior: Tensor) -> tuple[Tensor, Tensor]:
    weights = _cleaned(labels, posterior)[1]
    return labels, ((_trust(labels, posterior) >= 0.5) | (weights >= 1.0)).to(posterior.dtype)


def _replaced(labels: Tensor, posterior: Tensor) -> tuple[Tensor, Tensor]:
    sure, likeliest = posterior.max(dim=1)
    keeps = _cleaned(labels, posterior)[1] >= 1.0
    return torch.where(keeps, labels, likeliest), torch.where(keeps, torch.ones_like(sure), sure)


def _given(labels: Tensor, posterior: Tensor) -> tuple[Tensor, Tensor]:
    return labels, torch.ones(len(labels), dtype=posterior.dtype)


TREATMENTS: dict[str, Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]] = {
    "given": _given,
    "cleaned": _cleaned,
    "sure": _sure,
    "replaced": _replaced,
}
"""Name to what makes labels ``(n,)`` and weights ``(n,)`` from the given labels and the posterior ``(n, k)``."""


def treated(labels: Tensor, posterior: Tensor, treatment: str) -> tuple[Tensor, Tensor]:
    """Return the labels ``(n,)`` to learn and how much each counts, ``(n,)``; see the head of this file.

    Args:
        labels: ``(n,)``, as given.
        posterior: Probabilities ``(n, k)`` of the true labels.
        treatment: A name of :data:`TREATMENTS`.

    Example:
        >>> posterior = torch.tensor([[1.0, 0.0], [0.9, 0.1], [0.2, 0.8]])
        >>> treated(torch.tensor([0, 1, 1]), posterior, "sure")
        (tensor([0, 1, 1]), tensor([1., 0., 1.]))
        >>> treated(torch.tensor([0, 1, 1]), posterior, "replaced")
        (tensor([0, 0, 1]), tensor([1.0000, 0.9000, 1.0000]))
    """
    return choose(treatment, TREATMENTS, what="treatment of labels")(labels, posterior)


def trust_labels(dataset: Dataset, posterior: Tensor, treatment: str = "cleaned") -> TrustedLabels:
    r"""Make the labels to learn; by default each is weighted by its trust, :math:`v_n = t_n / \max_m t_m`.

    Args:
        dataset: The data with the labels given.
        posterior: Probabilities ``(n, k)`` of the true labels.
        treatment: A name of :data:`TREATMENTS`.

    Returns:
        The labels, and how much doubt there is.

    Example:
        >>> from anchored.data import TensorInputs
        >>> data = Dataset("toy", TensorInputs(torch.zeros(3, 2)), torch.tensor([0, 1, 1]), ("a", "b"))
        >>> trusted = trust_labels(data, torch.tensor([[1.0, 0.0], [0.8, 0.2], [0.2, 0.8]]))
        >>> trusted.dataset.weights, trusted.doubted
        (tensor([1.0000, 0.2500, 1.0000]), 1)
    """
    labels, weights = treated(dataset.labels, posterior, treatment)
    if dataset.weights is not None:
        weights = weights * dataset.weights
    learnt = replace(dataset, weights=weights)
    if treatment == "replaced":
        learnt = replace(learnt, labels=labels)
    doubted = int((_trust(dataset.labels, posterior) < 0.5).sum())
    wrong = 1 - _trust(labels, posterior)
    return TrustedLabels(learnt, doubted, float((wrong * weights).sum() / weights.sum()))


def _trust(labels: Tensor, posterior: Tensor) -> Tensor:
    return posterior.gather(1, labels[:, None])[:, 0]

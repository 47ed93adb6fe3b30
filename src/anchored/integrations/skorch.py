"""A skorch classifier with a loss of this library: ``predict_proba`` gives probabilities, as scikit-learn expects."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from anchored._errors import InputError
from anchored.losses import Loss, get

__all__ = ["net", "probabilities"]


def probabilities(logits: Tensor) -> Tensor:
    """Return the softmax of logits over the classes, the ``predict_nonlinearity`` of a skorch classifier.

    skorch adds a softmax only for torch's own cross entropy; with any other loss ``predict_proba`` gives raw logits.

    Example:
        >>> import torch
        >>> probabilities(torch.zeros(1, 4))
        tensor([[0.2500, 0.2500, 0.2500, 0.2500]])
    """
    return logits.float().softmax(dim=1)


def net(module: nn.Module | type[nn.Module], loss: str | Loss = "ce", **options: Any) -> Any:  # noqa: ANN401  # skorch is untyped
    """Return a ``skorch.NeuralNetClassifier`` that trains with ``loss`` and predicts probabilities.

    Args:
        module: The network, which gives logits ``(n, k)``, or its class.
        loss: A loss, or a name for :func:`anchored.losses.get`.
        **options: Other arguments of ``NeuralNetClassifier``: ``max_epochs``, ``lr``, ``optimizer``, ``batch_size`` ...

    Returns:
        The classifier, not yet fitted; it goes into pipelines and searches like any scikit-learn estimator.

    Raises:
        InputError: If skorch is not installed.

    Example:
        ``net(anchor_(Network(), 3, scale=10.0), "gce", max_epochs=20, lr=0.1).fit(X, y).predict_proba(X)``
    """
    try:
        from skorch import NeuralNetClassifier
    except ImportError:
        raise InputError("skorch is not installed; pip install skorch") from None
    criterion = get(loss) if isinstance(loss, str) else loss
    return NeuralNetClassifier(module, criterion=criterion, predict_nonlinearity=probabilities, **options)

"""The model's answers to samples that it was not trained on, and the features of these samples.

The answers are kept for at most 20,000 samples and the features for at most 4,000, both drawn at random, so a large
test set costs neither the memory nor the time of a large report; inputs pass through in batches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from anchored._random import stream
from anchored.data import Dataset
from anchored.runs import TrainedModel
from anchored.training import Runtime, answer_batches, evaluation_batches, weight_of

__all__ = ["ANSWERS", "FEATURES", "Measured", "measure"]

ANSWERS, FEATURES = 20_000, 4_000


@dataclass(frozen=True, eq=False)
class Measured:
    """Answers of a model to data with known labels.

    Attributes:
        part: ``"test"`` or ``"held_out"``.
        logits: ``(n, k)``, not divided by the temperature.
        labels: ``(n,)``, the true labels if they are known, else the likeliest ones if they were estimated, else
            the labels as given.
        total: Number of samples of the data; the model was asked about n of them.
        noisy: Whether the labels are as imperfect as those of training.
        temperature: Temperature of the model, by which logits are divided.
        features: ``(m, d)`` of the first m samples, or None if the network does not show them.
        directions: ``(k, d)``, one row per class, or None if the head has none.
        anchored: Whether the directions were fixed before training.
        normalized: Whether the head uses only the directions of features, not their lengths.
        scale: Number that the head multiplies cosines with, or None.
        posterior: Probabilities ``(n, k)`` of the true labels, or None if they were not estimated.
    """

    part: str
    logits: Tensor
    labels: Tensor
    total: int
    noisy: bool
    temperature: float
    features: Tensor | None = None
    directions: Tensor | None = None
    anchored: bool = False
    normalized: bool = False
    scale: float | None = None
    posterior: Tensor | None = None

    @property
    def target(self) -> Tensor:
        """What the answers are judged by: the posterior ``(n, k)`` if there is one, else the labels ``(n,)``."""
        return self.labels if self.posterior is None else self.posterior

    @property
    def n(self) -> int:
        """Number of samples that the model was asked about."""
        return len(self.labels)

    @property
    def sharp(self) -> Tensor:
        """Probabilities ``(n, k)`` before calibration: softmax of the logits."""
        return self.logits.double().softmax(dim=1)

    @property
    def calibrated(self) -> Tensor:
        """Probabilities ``(n, k)`` after calibration: softmax of logits / temperature."""
        return (self.logits.double() / self.temperature).softmax(dim=1)


@torch.inference_mode()
def measure(
    model: TrainedModel,
    dataset: Dataset,
    part: str,
    *,
    posterior: Tensor | None = None,
    answers: int = ANSWERS,
    features: int = FEATURES,
    tell: Callable[[int, int], None] = lambda _done, _all: None,
) -> Measured:
    """Ask ``model`` about at most ``answers`` samples of ``dataset``.

    Args:
        model: A trained model.
        dataset: Labelled data of the model's classes.
        part: Which part of the data it is, ``"test"`` or ``"held_out"``.
        posterior: Estimated probabilities ``(n, k)`` of the true labels of ``dataset``, or None.
        answers: Largest number of samples to ask about; of more, a random part is taken.
        features: Largest number of samples whose features are kept.
        tell: Called after each batch with the number of samples answered, and the number of all.

    Returns:
        Answers, labels and features.

    Example:
        >>> from anchored import AnchoredHead, backbones
        >>> from anchored.data import Normalization, TensorInputs
        >>> from anchored.methods import Classifier
        >>> data = Dataset("toy", TensorInputs(torch.zeros(6, 4)), torch.arange(6) % 2, ("no", "yes"))
        >>> classifier = Classifier(backbones.get("tiny", (4,)), AnchoredHead(32, 2))
        >>> model = TrainedModel(classifier, Normalization((0.0,) * 4, (1.0,) * 4, 1.0), ("no", "yes"))
        >>> found = measure(model, data, "test", answers=5)
        >>> found.n, found.total, found.features.shape
        (5, 6, torch.Size([5, 32]))
    """
    n = len(dataset)
    order = torch.arange(n) if n <= answers else torch.randperm(n, generator=stream(0, "report"))[:answers]
    if len(order) > features:  # features of the first ones are kept, and these must not all be of the first class
        order = order[torch.randperm(len(order), generator=stream(0, "report", "features"))]
    network, weight = model.classifier, weight_of(model)
    runtime = Runtime(weight.device, "64" if weight.dtype == torch.float64 else "32")
    batches = evaluation_batches(dataset, model.normalization, runtime)
    logits: list[Tensor] = []
    kept: list[Tensor] = []
    for answer in answer_batches(network, batches, runtime, order=order, features=True):
        logits.append(answer.logits.cpu())
        if answer.features is not None and sum(map(len, kept)) < features:
            kept.append(answer.features.cpu())
        tell(sum(map(len, logits)), len(order))
    labels = dataset.labels if dataset.clean_labels is None else dataset.clean_labels
    if posterior is not None:
        labels = posterior.argmax(dim=1)
    directions = _directions(network)
    vectors = torch.cat(kept)[:features] if kept and kept[0].ndim == 2 else None
    if vectors is None or directions is None or vectors.shape[1] != directions.shape[1]:
        vectors = directions = None
    return Measured(
        part,
        torch.cat(logits),
        labels[order],
        n,
        part == "held_out" and dataset.clean_labels is None and posterior is None,
        model.temperature,
        vectors,
        directions,
        hasattr(network.head, "prototypes"),
        bool(getattr(network.head, "normalize", False)),
        _number(getattr(network.head, "scale", None)),
        None if posterior is None else posterior[order],
    )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def _directions(network: nn.Module) -> Tensor | None:
    rows = getattr(network, "rows", None)
    found: Tensor | None = None if rows is None else rows()
    return None if found is None or found.ndim != 2 else found.detach().cpu()

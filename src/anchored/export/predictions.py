r"""Predictions of inputs: a label, its probability, its margin over the next, and whether to trust it.

For calibrated logits :math:`f` with the largest :math:`f_a` and the next :math:`f_b`, the probability is
:math:`\operatorname{softmax}(f)_a` and the margin :math:`f_a - f_b`, the logarithm of how much likelier a is than b.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch

from anchored._checks import check_real
from anchored._errors import InputError
from anchored.data import Chunk
from anchored.runs import TrainedModel

__all__ = ["Predictions", "predictions"]


@dataclass(frozen=True)
class Predictions:
    """Predictions of consecutive samples, one list per column; None for a sample that could not be read.

    Attributes:
        id: Name of the sample: a path, or ``"row 17"``.
        label: The likeliest class.
        probability: Calibrated probability of that class.
        margin: Calibrated logit of that class minus that of the next one.
        abstain: Whether the probability is too small to be trusted, or there is none.
        error: Why the sample has no label; None if it has one.
    """

    id: list[str]
    label: list[str | None]
    probability: list[float | None]
    margin: list[float | None]
    abstain: list[bool]
    error: list[str | None]


def predictions(model: TrainedModel, chunks: Iterable[Chunk], *, min_confidence: float = 0.0) -> Iterator[Predictions]:
    r"""Predict chunk by chunk, so that memory does not grow with the data.

    The probability is :math:`\max_j \operatorname{softmax}(f)_j` of the calibrated logits f, and the margin is the
    largest logit minus the next.

    Args:
        model: A trained model, e.g. from :func:`anchored.load`.
        chunks: The data, e.g. from :func:`anchored.data.chunks`.
        min_confidence: Abstain if the calibrated probability is below this.

    Yields:
        The predictions of each chunk.

    Raises:
        InputError: ``min_confidence`` is no probability, or the model does not fit its class names.

    Example:
        >>> from anchored import AnchoredHead, backbones
        >>> from anchored.data import Normalization
        >>> from anchored.methods import Classifier
        >>> classifier = Classifier(backbones.get("tiny", (4,)), AnchoredHead(32, 2))
        >>> model = TrainedModel(classifier, Normalization((0.0,) * 4, (1.0,) * 4, 1.0), ("no", "yes"))
        >>> chunk = Chunk(["a", "b"], torch.zeros(1, 4), {0: "a: damaged"})
        >>> (said,) = predictions(model, [chunk], min_confidence=0.9)
        >>> said.id, said.label[0], said.abstain, said.error
        (['a', 'b'], None, [True, True], ['a: damaged', None])
    """
    check_real("min_confidence", min_confidence, low=0.0, high=1.0, way_out="it is a probability")
    for chunk in chunks:
        yield _of_one(model, chunk, min_confidence)


def _of_one(model: TrainedModel, chunk: Chunk, min_confidence: float) -> Predictions:
    n = len(chunk.ids)
    errors: list[str | None] = [chunk.errors.get(place) for place in range(n)]
    label: list[str | None] = [None] * n
    probability: list[float | None] = [None] * n
    margin: list[float | None] = [None] * n
    abstain = [True] * n
    if len(chunk.inputs):
        with torch.inference_mode():
            logits = model(chunk.inputs).to("cpu", torch.float64)
        if logits.shape[1] != len(model.class_names):
            raise InputError(f"the model has {len(model.class_names)} class names but {logits.shape[1]} outputs")
        top = logits.topk(2, dim=1)
        likely = logits.softmax(dim=1).amax(dim=1)
        finite = logits.isfinite().all(dim=1).tolist()
        ahead = (top.values[:, 0] - top.values[:, 1]).tolist()
        answers = zip(finite, top.indices[:, 0].tolist(), likely.tolist(), ahead, strict=True)
        for place in range(n):
            if errors[place] is not None:
                continue
            is_finite, best, p, above = next(answers)
            if not is_finite:
                errors[place] = f"{chunk.ids[place]}: the model's answer is not a number; are its values far off?"
                continue
            label[place], probability[place], margin[place] = model.class_names[best], p, above
            abstain[place] = p < min_confidence
    return Predictions(list(chunk.ids), label, probability, margin, abstain, errors)

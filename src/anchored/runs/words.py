r"""Which words of a text speak for one label and which for another: each is left out in turn.

For the calibrated logits f of a text x, the lead of class s over class y is :math:`f_s(x) - f_y(x)`, and a word w has
the part :math:`(f_s(x) - f_y(x)) - (f_s(x \setminus w) - f_y(x \setminus w))` in it. That asks the model itself,
whatever its encoder and method are.
"""

from __future__ import annotations

import re

import torch

from anchored._errors import InputError
from anchored.data import TextInputs
from anchored.runs.model import TrainedModel

__all__ = ["speaking_words"]

_MOST_WORDS = 100
"""Different words of a text that are tried: of a longer one the first."""
_LONGEST = 20_000
_WORD = re.compile(r"\w+")


def speaking_words(
    model: TrainedModel, text: str, given: int, suggested: int, *, most: int = 5
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Find the words that speak most for the suggested label, and those that speak most for the given one.

    Args:
        model: A model that takes texts.
        text: The text.
        given: Number of its label.
        suggested: Number of the class that is held against it.
        most: Largest number of words for either.

    Returns:
        The words for the suggested label and the words for the given one, each the strongest first; words that change
        nothing are in neither.

    Raises:
        InputError: The model does not take texts.

    Example:
        See ``tests/unit/runs/test_words.py``: a model is needed.
    """
    if model.encoder is None or model.encoder.kind != "text":
        raise InputError("words speak to a model of texts; this one takes other inputs")
    text = text[:_LONGEST]
    words = list(dict.fromkeys(_WORD.findall(text)))[:_MOST_WORDS]
    if not words:
        return (), ()
    without = [re.sub(rf"\b{re.escape(word)}\b", "", text) for word in words]
    with torch.inference_mode():
        logits = model(model.vectors(TextInputs([text, *without]))).double()
    lead = logits[:, suggested] - logits[:, given]
    part = lead[0] - lead[1:]
    order = part.argsort(descending=True, stable=True).tolist()
    speaks_for = tuple(words[i] for i in order if part[i] > 0)[:most]
    speaks_against = tuple(words[i] for i in reversed(order) if part[i] < 0)[:most]
    return speaks_for, speaks_against

"""What encoders of text have in common: how texts are recognised and read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torch import Tensor

from anchored._errors import InputError
from anchored.data import Inputs

__all__ = ["batches_of_texts", "chosen_texts", "texts_of"]


def texts_of(inputs: Inputs, name: str) -> Sequence[str]:
    """Return the texts of inputs.

    Args:
        inputs: Inputs with an attribute ``texts``.
        name: The encoder that asks, for a refusal.

    Returns:
        The texts.

    Raises:
        InputError: If the inputs are no texts.

    Example:
        >>> from types import SimpleNamespace
        >>> texts_of(SimpleNamespace(texts=("good", "bad"), shape=()), "tfidf")
        ('good', 'bad')
    """
    texts: Sequence[str] | None = getattr(inputs, "texts", None)
    if texts is None:
        what = "images" if len(inputs.shape) == 3 else f"inputs of shape {inputs.shape}"
        raise InputError(f"{name} encodes texts, got {what}; choose another encoder, or encoder='auto'")
    return texts


def chosen_texts(inputs: Inputs, index: Tensor, name: str) -> list[str]:
    """Return the texts at ``index``.

    Args:
        inputs: Inputs with an attribute ``texts``.
        index: Row numbers ``(b,)``.
        name: The encoder that asks, for a refusal.

    Returns:
        The texts in the order of ``index``.

    Example:
        >>> import torch
        >>> from types import SimpleNamespace
        >>> chosen_texts(SimpleNamespace(texts=("good", "bad"), shape=()), torch.tensor([1]), "tfidf")
        ['bad']
    """
    texts = texts_of(inputs, name)
    return [texts[i] for i in index.tolist()]


def batches_of_texts(texts: Sequence[str], *, count: int, characters: int) -> Iterator[Sequence[str]]:
    """Cut texts into batches that hold neither too many texts nor too many characters.

    Args:
        texts: The texts.
        count: The most texts of a batch.
        characters: The most characters of a batch; a longer text is a batch of its own.

    Yields:
        Consecutive texts.

    Example:
        >>> [list(batch) for batch in batches_of_texts(["aa", "b", "cccc", "d"], count=3, characters=4)]
        [['aa', 'b'], ['cccc'], ['d']]
    """
    start = held = 0
    for end, text in enumerate(texts):
        if end > start and (end - start >= count or held + len(text) > characters):
            yield texts[start:end]
            start, held = end, 0
        held += len(text)
    if start < len(texts):
        yield texts[start:]

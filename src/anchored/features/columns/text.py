"""Free text: vectors of a text encoder that is handed in, or of hashed words if there is none."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Literal, Self

import numpy as np
from pydantic import Field, FiniteFloat, PrivateAttr
from torch import Tensor

from anchored._errors import InputError
from anchored.data import Column, TextColumn, TextInputs
from anchored.features.base import Encoder
from anchored.features.columns._base import ColumnEncoder, Features, Where, as_texts, levels_to_rows, with_indicator
from anchored.features.columns.hashed_texts import HashedTexts

__all__ = ["FreeTextEncoder"]

_WORDS = 64


class FreeTextEncoder(ColumnEncoder):
    """Encode a column of free text.

    Args:
        encoder: The name of the text encoder that was handed in, or ``"words"`` for hashed words.
        about: What that encoder must keep, as plain JSON.
        mean: Mean vector of the training rows.
        scale: Root of the largest variance of a feature in training.

    Example:
        >>> from anchored.data import column_of
        >>> column = column_of(["the red car is fast", "a blue car", "the green tree grows"], "t")
        >>> FreeTextEncoder.fit(column).transform(column, where=str).shape
        (3, 2)
    """

    kind: Literal["text"] = "text"
    encoder: str
    about: dict[str, object] = Field(default_factory=dict)
    mean: list[FiniteFloat]
    scale: FiniteFloat = Field(gt=0.0)
    _model: Encoder | HashedTexts = PrivateAttr()

    @classmethod
    def fit(cls, column: Column, *, encoder: Encoder | None = None, dim: int = _WORDS) -> FreeTextEncoder:
        """Learn from the training texts.

        Args:
            column: The training cells.
            encoder: A text encoder; a copy of it is fitted. By default hashed words.
            dim: The most features of hashed words.

        Returns:
            The encoder.
        """
        texts = as_texts(column)
        counts = texts.counts()
        missing = float((texts.codes < 0).mean())
        if encoder is None:
            words = HashedTexts.fit(texts.levels, counts, "words", dim)  # centred and scaled by itself
            fitted = cls(encoder="words", mean=[0.0] * words.dim, scale=1.0, missing_mean=missing)
            fitted._model = words
            return fitted
        model = copy.deepcopy(encoder).fit(TextInputs(texts.levels))
        vectors = _vectors(model, texts).astype(np.float64)
        weights = counts / max(counts.sum(), 1)
        mean = (vectors * weights[:, None]).sum(axis=0)
        spread = float(np.sqrt((((vectors - mean) ** 2) * weights[:, None]).sum(axis=0).max(initial=0.0)))
        fitted = cls(
            encoder=model.name, about=model.state()[0], mean=mean.tolist(), scale=spread if spread > 1e-12 else 1.0,
            missing_mean=missing,
        )  # fmt: skip
        fitted._model = model
        return fitted

    @property
    def names(self) -> tuple[str, ...]:
        """What each feature is."""
        return (*(f"text {i}" for i in range(len(self.mean))), *(("missing",) if self.missing_mean else ()))

    @property
    def action(self) -> str:
        """What is done with the column."""
        done = f"{len(self.mean)} features of its {'words' if self.encoder == 'words' else f'text ({self.encoder})'}"
        return f"{done}; gaps marked" if self.missing_mean else done

    def transform(self, column: Column, where: Where) -> Features:
        """Encode texts.

        Args:
            column: Cells of any form.
            where: Names the place of a cell; nothing is refused.

        Returns:
            Features ``(n, dim)``.
        """
        texts = as_texts(column)
        vectors = (_vectors(self._model, texts) - np.array(self.mean)) / self.scale
        rows = levels_to_rows(vectors.astype(np.float32), texts.codes)
        return with_indicator(rows, texts.codes < 0, self.missing_mean)

    def tensors(self) -> dict[str, Tensor]:
        """Return the tensors of the text encoder."""
        return self._model.tensors() if isinstance(self._model, HashedTexts) else self._model.state()[1]

    @classmethod
    def restore(
        cls,
        about: Mapping[str, object],
        tensors: Mapping[str, Tensor],
        encoders: Mapping[str, type[Encoder]] | None = None,
    ) -> Self:
        """Make the encoder from its settings and tensors, checking both.

        Args:
            about: What ``model_dump`` gave.
            tensors: What :meth:`tensors` gave.
            encoders: The classes of text encoders by name.

        Returns:
            The encoder.

        Raises:
            InputError: If the text encoder is not known here.
        """
        fitted = cls.model_validate(about)
        if fitted.encoder == "words":
            fitted._model = HashedTexts.restore("words", tensors)
        elif encoders is not None and fitted.encoder in encoders:
            fitted._model = encoders[fitted.encoder].from_state(fitted.about, tensors)
        else:
            raise InputError(f"a text column was encoded by {fitted.encoder!r}, which is not known here; install it")
        if fitted._model.dim != len(fitted.mean):
            raise InputError("the encoding of a text column is damaged (its sizes do not fit); fit the model again")
        return fitted


def _vectors(model: Encoder | HashedTexts, texts: TextColumn) -> Features:
    if isinstance(model, HashedTexts):
        return model.transform(texts.levels)
    if not texts.levels:
        return np.zeros((0, model.dim), dtype=np.float32)
    return model.transform(TextInputs(texts.levels)).numpy()

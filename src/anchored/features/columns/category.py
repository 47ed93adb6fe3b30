"""Categories: one feature per frequent value, one for all rare ones; if there are many, also by count and spelling.

All are target-free: a category's features never depend on labels, so noisy labels cannot leak into them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

import numpy as np
from pydantic import Field, FiniteFloat, PrivateAttr, model_validator
from torch import Tensor

from anchored._errors import InputError
from anchored._names import is_number
from anchored.data import Column, NumberColumn, TextColumn, text_of_number
from anchored.features.columns._base import (
    YES,
    ColumnEncoder,
    Features,
    Where,
    as_texts,
    levels_to_rows,
    with_indicator,
)
from anchored.features.columns.hashed_texts import HashedTexts

__all__ = ["ONE_HOT", "CategoryEncoder"]

ONE_HOT = 30
"""The most values of a category that get a feature each."""
_SPELLING = 30


class CategoryEncoder(ColumnEncoder):
    """Encode a column of categories.

    Args:
        values: The values with a feature of their own, the most frequent first.
        shares: Their shares of the training rows that are not missing, subtracted so that each feature has mean 0.
        other: Share of training rows with a rarer value; 0 if there was none, and then a new value gets zeros.
        counts: Training rows of every value that occurs twice or more, if there are more values than features for them;
            a value seen once counts like a new one.
        count_mean: Mean of ``log(1 + count)`` over the training rows.
        count_scale: Its standard deviation.
        spelled: Whether there are features of the spelling.
        numeric: Whether the training cells were numbers; then ``3.0`` in a text is the value ``3``.

    Example:
        >>> from anchored.data import column_of
        >>> encoder = CategoryEncoder.fit(column_of(["red"] * 3 + ["blue"], "t"))
        >>> encoder.names, encoder.transform(column_of(["blue", "green"], "t"), where=str).tolist()
        (('red', 'blue'), [[-1.5, 1.5], [0.0, 0.0]])
    """

    kind: Literal["category"] = "category"
    values: list[str]
    shares: list[FiniteFloat]
    other: float = Field(default=0.0, ge=0.0, le=1.0)
    counts: dict[str, int] = Field(default_factory=dict)
    count_mean: FiniteFloat = 0.0
    count_scale: FiniteFloat = Field(default=1.0, gt=0.0)
    spelled: bool = False
    numeric: bool = False
    _spelling: HashedTexts | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _as_many_shares_as_values(self) -> Self:
        if len(self.values) != len(self.shares) or len(set(self.values)) != len(self.values):
            raise ValueError("each value needs one share")
        return self

    @classmethod
    def fit(cls, column: Column, *, one_hot: int = ONE_HOT) -> CategoryEncoder:
        """Learn the values and their counts from training cells.

        Args:
            column: The training cells.
            one_hot: The most values that get a feature each.

        Returns:
            The encoder. A value of fewer than 3 rows (or 1 in 1,000, if that is more) is rare, unless all are.

        Example:
            >>> from anchored.data import column_of
            >>> CategoryEncoder.fit(column_of(["a"] * 20 + ["b"] * 20 + ["c"], "t")).names
            ('a', 'b', 'other values')
        """
        texts = as_texts(column)
        counts = texts.counts()
        n = max(int(counts.sum()), 1)
        order = np.argsort(-counts, kind="stable")
        rare = max(3, n // 1000) if n >= 30 else 1
        kept = [int(i) for i in order[:one_hot] if counts[i] >= rare] or [int(i) for i in order[:one_hot]]
        shares = [float(counts[i] / n) for i in kept]
        other = float((counts.sum() - counts[kept].sum()) / n) if len(kept) < len(counts) else 0.0
        missing = float((texts.codes < 0).mean()) if len(texts) else 0.0
        values = [texts.levels[i] for i in kept]
        numeric = isinstance(column, NumberColumn)
        if len(counts) <= one_hot:
            return cls(values=values, shares=shares, other=other, missing_mean=missing, numeric=numeric)
        logs = np.log1p(np.where(counts > 1, counts, 0))[texts.codes[texts.codes >= 0]]
        encoder = cls(
            values=values, shares=shares, other=other, missing_mean=missing, spelled=True, numeric=numeric,
            counts={texts.levels[i]: int(counts[i]) for i in np.flatnonzero(counts > 1).tolist()},
            count_mean=float(logs.mean()), count_scale=float(logs.std()) or 1.0,
        )  # fmt: skip
        encoder._spelling = HashedTexts.fit(texts.levels, counts, "letters", _SPELLING)
        return encoder

    @property
    def names(self) -> tuple[str, ...]:
        """What each feature is."""
        named = (*self.values, *(("other values",) if self.other else ()))
        if self._spelling is not None:
            named += ("count", *(f"spelling {i}" for i in range(self._spelling.dim)))
        return (*named, *(("missing",) if self.missing_mean else ()))

    @property
    def action(self) -> str:
        """What is done with the column."""
        done = f"{len(self.values)} value{'s' * (len(self.values) != 1)}, one feature each"
        if self.other:
            done += ", rare ones together"
        if self._spelling is not None:
            done += ", all by count and spelling"
        return f"{done}; gaps marked" if self.missing_mean else done

    def transform(self, column: Column, where: Where) -> Features:
        """Encode categories.

        Args:
            column: Cells of any form; a value never seen in training counts as a rare one.
            where: Names the place of a cell; nothing is refused.

        Returns:
            Features ``(n, dim)``.
        """
        texts = as_texts(column)
        if self.numeric and isinstance(column, TextColumn):
            same = (text_of_number(float(level)) if is_number(level) else level for level in texts.levels)
            texts = TextColumn(texts.codes, tuple(same))
        m, k = len(texts.levels), len(self.values)
        place = {value: i for i, value in enumerate(self.values)}
        own = np.array([place.get(level, -1) for level in texts.levels], dtype=np.int64)
        known = own >= 0
        table = np.zeros((m, k + bool(self.other)), dtype=np.float32)
        table[np.flatnonzero(known), own[known]] = 1.0
        if self.other:
            table[~known, k] = 1.0
        seen = known | bool(self.other)
        table[seen] -= np.array([*self.shares, *([self.other] if self.other else [])], dtype=np.float32)
        table *= YES
        if self._spelling is not None:
            logs = np.log1p(np.array([self.counts.get(level, 0) for level in texts.levels], dtype=np.float64))
            count = ((logs - self.count_mean) / self.count_scale).astype(np.float32)[:, None]
            table = np.concatenate([table, count, self._spelling.transform(texts.levels)], axis=1)
        return with_indicator(levels_to_rows(table, texts.codes), texts.codes < 0, self.missing_mean)

    def tensors(self) -> dict[str, Tensor]:
        """Return the directions of the spelling, if there are many values."""
        return {} if self._spelling is None else self._spelling.tensors()

    @classmethod
    def restore(cls, about: Mapping[str, object], tensors: Mapping[str, Tensor]) -> Self:
        """Make the encoder from its settings and tensors, checking both.

        Args:
            about: What ``model_dump`` gave.
            tensors: What :meth:`tensors` gave.

        Returns:
            The encoder.
        """
        encoder = cls.model_validate(about)
        if encoder.spelled:
            encoder._spelling = HashedTexts.restore("letters", tensors)
        elif tensors:
            raise InputError(
                "the encoding of a category is damaged (tensors that it does not need); fit the model again"
            )
        return encoder

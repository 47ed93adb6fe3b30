"""Lists of numbers (embeddings): centred, and divided by one scale, so that distances keep their ratios."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Literal, Self

import numpy as np
import numpy.typing as npt
import torch
from pydantic import Field, FiniteFloat, PrivateAttr
from torch import Tensor

from anchored._errors import InputError
from anchored.data import Column, NumberColumn, TextColumn, VectorColumn
from anchored.features.columns._base import ColumnEncoder, Features, Where, with_indicator

__all__ = ["VectorEncoder", "vectors_of_texts"]


class VectorEncoder(ColumnEncoder):
    """Encode a column of lists of numbers.

    Args:
        width: Numbers per list.
        scale: Root of the mean variance of the numbers in training.

    Example:
        >>> column = VectorColumn(np.array([[0.0, 10.0], [2.0, 10.0]]))
        >>> VectorEncoder.fit(column).transform(column, where=str).round().tolist()
        [[-1.0, 0.0], [1.0, 0.0]]
    """

    kind: Literal["list"] = "list"
    width: int = Field(ge=1)
    scale: FiniteFloat = Field(gt=0.0)
    _mean: npt.NDArray[np.float64] = PrivateAttr()

    @classmethod
    def fit(cls, column: VectorColumn) -> VectorEncoder:
        """Learn the mean and the scale from training cells; lists with an infinite number count as missing."""
        rows = np.isfinite(column.values).all(axis=1)
        values = column.values[rows].astype(np.float64)
        mean = values.mean(axis=0) if len(values) else np.zeros(column.values.shape[1])
        scale = float(np.sqrt(np.mean((values - mean) ** 2))) if len(values) else 1.0
        encoder = cls(
            width=column.values.shape[1], scale=scale if np.isfinite(scale) and scale > 0 else 1.0,
            missing_mean=float(1 - rows.mean()),
        )  # fmt: skip
        encoder._mean = mean
        return encoder

    @property
    def names(self) -> tuple[str, ...]:
        """What each feature is."""
        return (*(str(i) for i in range(self.width)), *(("missing",) if self.missing_mean else ()))

    @property
    def action(self) -> str:
        """What is done with the column."""
        done = f"{self.width} numbers, one scale for all"
        return f"{done}; gaps marked" if self.missing_mean else done

    def transform(self, column: Column, where: Where) -> Features:
        """Encode lists of numbers.

        Args:
            column: Lists, or texts such as ``"[0.1, 0.2]"``.
            where: Names the place of a cell.

        Returns:
            Features ``(n, dim)``.

        Raises:
            InputError: If a list has another length than in training, or a cell is no list.
        """
        if isinstance(column, NumberColumn) and bool(column.missing.all()):
            column = VectorColumn(np.full((len(column), self.width), np.nan))
        if isinstance(column, TextColumn):
            read = vectors_of_texts(column)
            if read is None:
                raise InputError(f"{where(0)}: a cell must be a list of {self.width} numbers, as in training")
            column = read
        if not isinstance(column, VectorColumn):
            raise InputError(f"{where(0)}: a cell must be a list of {self.width} numbers, as in training")
        if column.values.shape[1] != self.width:
            raise InputError(
                f"{where(0)}: the model learnt lists of {self.width} numbers, got {column.values.shape[1]}; "
                "embed with the same model"
            )
        missing = ~np.isfinite(column.values).all(axis=1)
        features = ((column.values - self._mean) / self.scale).astype(np.float32)
        features[missing] = 0.0
        return with_indicator(np.nan_to_num(features), missing, self.missing_mean)

    def tensors(self) -> dict[str, Tensor]:
        """Return the mean list."""
        return {"mean": torch.from_numpy(self._mean)}

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
        mean = tensors.get("mean")
        if mean is None or mean.shape != (encoder.width,) or not bool(mean.isfinite().all()):
            raise InputError("the encoding of a list column is damaged (its mean does not fit); fit the model again")
        encoder._mean = mean.to(torch.float64).numpy()
        return encoder


def vectors_of_texts(column: TextColumn) -> VectorColumn | None:
    """Read texts such as ``"[0.1, 0.2]"`` as lists of numbers.

    Returns:
        The lists, or None if a text is no list of numbers or two differ in length.

    Example:
        >>> column = TextColumn(np.array([0, -1], dtype=np.int32), ("[1, 2.5]",))
        >>> vectors_of_texts(column).values.tolist()
        [[1.0, 2.5], [nan, nan]]
    """
    if not column.levels or not all(level[:1] == "[" and level[-1:] == "]" for level in column.levels):
        return None
    lists = [_list_of(level) for level in column.levels]
    widths = {len(values) for values in lists if values is not None}
    if None in lists or len(widths) != 1 or widths == {0}:
        return None
    table = np.array([*lists, [np.nan] * widths.pop()], dtype=np.float64)
    return VectorColumn(table[column.codes])


def _list_of(level: str) -> Sequence[float] | None:
    text = level if "," in level else "[" + ",".join(level[1:-1].split()) + "]"  # numpy prints lists without commas
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return None
    flat = isinstance(values, list) and all(isinstance(value, int | float) for value in values)
    return [float(value) for value in values] if flat else None

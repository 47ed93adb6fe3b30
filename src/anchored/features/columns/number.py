r"""Numbers: clipped far outside the bulk, centred in double precision, scaled; the rank beside them if they are skewed.

.. math::  z = \frac{\operatorname{clip}(x, q_{25} - 10\,s, q_{75} + 10\,s) - \mu}{\sigma}, \qquad s = q_{75} - q_{25},

with mean and standard deviation of the clipped training values. One cell of 1e30 then moves nothing else. So that a
linear model can follow a curve (the middle ages earn most), hinges max(0, z - q) at the quartiles q can stand beside z.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, FiniteFloat, model_validator

from anchored._errors import InputError
from anchored.data import Column, NumberColumn, TextColumn, text_of_number
from anchored.features.columns._base import ColumnEncoder, Features, Where, refuse_unreadable, with_indicator
from anchored.features.columns.number_text import NumberStyle, of_other_unit, read_numbers

__all__ = ["NumberEncoder"]

Floats = npt.NDArray[np.float64]
_REACH = 10.0
_SKEWED = 1.0
_KNOTS = 33
_FEW = 10


class NumberEncoder(ColumnEncoder):
    """Encode a column of numbers.

    Args:
        style: How the numbers are written, if they are written as text.
        unit: The sign or unit that they had in training, ``""`` for none; None if it is not known, as in models of
            versions that did not keep it.
        low: Values below are raised to it.
        high: Values above are lowered to it.
        mean: Mean of the clipped training values.
        scale: Their standard deviation; 0 if they are all the same, and then only the indicator is a feature.
        knots: Quantiles of a skewed column, between which the rank is interpolated; empty if it is not skewed.
        ranks: The rank of each knot, between 0 and 1.
        rank_mean: Mean rank in training.
        rank_scale: Standard deviation of the rank in training.
        bends: The scaled values at which the hinges ``max(0, z - bend)`` begin; empty for a straight line.
        bend_means: Means of the hinges in training.
        bend_scales: Their standard deviations.

    Example:
        >>> encoder = NumberEncoder.fit(np.array([1.0, 1.0, 3.0, 3.0, np.nan, np.nan]))
        >>> encoder.transform(NumberColumn(np.array([2.0, np.nan, 1e30])), where=str)[:, 0].tolist()
        [0.0, 0.0, 21.0]
    """

    kind: Literal["number"] = "number"
    style: NumberStyle = "point"
    unit: str | None = None
    low: FiniteFloat
    high: FiniteFloat
    mean: FiniteFloat
    scale: FiniteFloat = Field(ge=0.0)
    knots: list[FiniteFloat] = Field(default_factory=list)
    ranks: list[FiniteFloat] = Field(default_factory=list)
    rank_mean: FiniteFloat = 0.0
    rank_scale: FiniteFloat = Field(default=1.0, gt=0.0)
    bends: list[FiniteFloat] = Field(default_factory=list)
    bend_means: list[FiniteFloat] = Field(default_factory=list)
    bend_scales: list[Annotated[FiniteFloat, Field(gt=0.0)]] = Field(default_factory=list)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low > self.high or len(self.knots) != len(self.ranks) or sorted(self.knots) != self.knots:
            raise ValueError("bounds and knots must be in order, with one rank per knot")
        if not len(self.bends) == len(self.bend_means) == len(self.bend_scales):
            raise ValueError("each bend needs a mean and a scale")
        return self

    @classmethod
    def fit(
        cls,
        values: Floats,
        *,
        style: NumberStyle = "point",
        unit: str = "",
        lenient: bool = False,
        curved: bool = False,
    ) -> NumberEncoder:
        """Learn bounds, mean and scale from training values.

        Args:
            values: ``(n,)`` float64; NaN is missing, infinite values count as beyond the bounds.
            style: How the numbers are written.
            unit: The sign or unit behind or before them, in small letters.
            lenient: Whether cells that cannot be read count as missing.
            curved: Whether to add hinges at the quartiles, if there are values enough between them.

        Returns:
            The encoder.

        Example:
            >>> encoder = NumberEncoder.fit(np.array([4.0, 6.0, 5.0, np.nan]))
            >>> encoder.mean, encoder.names, encoder.missing_mean
            (5.0, ('value', 'missing'), 0.25)
        """
        missing = np.isnan(values)
        low, high = _bounds(values[np.isfinite(values)])
        clipped = np.clip(values[~missing], low, high)
        mean, scale = _moments(clipped)
        encoder = cls(
            low=low,
            high=high,
            mean=mean,
            scale=scale,
            style=style,
            unit=unit,
            lenient=lenient,
            missing_mean=float(missing.mean()),
        )
        if curved and scale > 0:
            encoder = encoder.model_copy(update=_hinges((clipped - mean) / scale))
        if scale == 0 or len(clipped) < _KNOTS or abs(float(np.mean(((clipped - mean) / scale) ** 3))) <= _SKEWED:
            return encoder
        finite = np.clip(values[~missing], -1e300, 1e300)  # ranks are not hurt by far values, so they keep them all
        places = np.linspace(0.0, 1.0, _KNOTS)
        knots, inverse = np.unique(np.quantile(finite, places), return_inverse=True)
        if len(knots) < 3:
            return encoder
        ranks = np.bincount(inverse, weights=places) / np.bincount(inverse)
        rank_mean, rank_scale = _moments(np.interp(finite, knots, ranks))
        ranked = {"ranks": ranks.tolist(), "rank_mean": rank_mean, "rank_scale": rank_scale or 1.0}
        return encoder.model_copy(update={"knots": knots.tolist(), **ranked})

    @property
    def names(self) -> tuple[str, ...]:
        """What each feature is."""
        value = ("value",) if self.scale > 0 else ()
        rank = ("rank",) if self.knots else ()
        bends = tuple(f"above {text_of_number(float(f'{self.mean + bend * self.scale:.3g}'))}" for bend in self.bends)
        return (*value, *rank, *bends, *(("missing",) if self.missing_mean else ()))

    @property
    def action(self) -> str:
        """What is done with the column."""
        done = "scaled" if self.scale else "one value"
        done += ", rank" * bool(self.knots) + f", {len(self.bends)} bend{'s' * (len(self.bends) > 1)}" * bool(
            self.bends
        )
        return f"{done}; gaps filled and marked" if self.missing_mean else done

    def transform(self, column: Column, where: Where) -> Features:
        """Encode numbers; see the class.

        Args:
            column: Numbers, or texts that are written in the style of the training column.
            where: Names the place of a cell.

        Returns:
            Features ``(n, dim)``.

        Raises:
            InputError: If a cell is no number; the line names its row and column.
        """
        values = self.read(column, where)
        missing = np.isnan(values)
        clipped = np.clip(np.where(missing, self.mean, values), self.low, self.high)
        features = np.empty((len(values), len(self.names) - bool(self.missing_mean)), dtype=np.float32)
        if self.scale > 0:
            features[:, 0] = (clipped - self.mean) / self.scale
        if self.knots:
            features[:, 1] = (np.interp(values, self.knots, self.ranks) - self.rank_mean) / self.rank_scale
        if self.bends:
            first = 1 + bool(self.knots)
            hinges = np.maximum(0.0, ((clipped - self.mean) / self.scale)[:, None] - np.array(self.bends))
            features[:, first : first + len(self.bends)] = (hinges - self.bend_means) / np.array(self.bend_scales)
        features[missing] = 0.0
        return with_indicator(features, missing, self.missing_mean)

    def read(self, column: Column, where: Where) -> Floats:
        """Read the cells of a column as numbers.

        Args:
            column: Numbers, or texts.
            where: Names the place of a cell.

        Returns:
            ``(n,)`` float64, NaN if missing.

        Raises:
            InputError: If a cell is no number, or has another unit than in training; the line names it.

        Example:
            >>> from anchored.data import column_of
            >>> encoder = NumberEncoder.fit(np.array([1.5, 2.0]), style="comma")
            >>> encoder.read(column_of(["1.234,5", None], "t"), where=str).tolist()
            [1234.5, nan]
        """
        if isinstance(column, NumberColumn):
            if self.style.endswith("comma"):
                odd = np.flatnonzero(np.isfinite(column.values) & (column.values != np.floor(column.values)))
                if len(odd):
                    raise InputError(
                        f"{where(int(odd[0]))}: the model learnt this column with decimal commas, got a decimal point; "
                        "write both in one way"
                    )
            return column.values
        if not isinstance(column, TextColumn):
            raise InputError(f"{where(0)}: a cell must be a number, as in training; correct the column")
        values, unreadable = read_numbers(column.levels, self.style)
        if self.unit is not None:
            had = (
                f"a cell must have the unit of training, {self.unit!r}" if self.unit else "numbers had no % in training"
            )
            refuse_unreadable(column, of_other_unit(column.levels, self.unit), where, had, "convert it")
        if not self.lenient:
            way_out = "correct the cell, or leave it empty"
            refuse_unreadable(column, unreadable, where, "a cell must be a number, as in training", way_out)
        return np.append(values, np.nan)[column.codes]

    def beyond(self, values: Floats) -> npt.NDArray[np.int64]:
        """Return the places of the values that are clipped."""
        return np.flatnonzero((values < self.low) | (values > self.high))


def _hinges(scaled: Floats) -> dict[str, list[float]]:
    """Return where the hinges begin, at the quartiles of the scaled values, and their means and scales."""
    bends, means, scales = [], [], []
    for bend in np.unique(np.quantile(scaled, [0.25, 0.5, 0.75])).tolist():
        hinge = np.maximum(0.0, scaled - bend)
        if np.count_nonzero(hinge) >= _FEW and np.count_nonzero(scaled <= bend) >= _FEW:
            bends.append(float(bend))
            means.append(float(hinge.mean()))
            scales.append(float(hinge.std()))
    if len(np.unique(scaled)) < _FEW or not all(scale > 0 for scale in scales):
        return {}
    return {"bends": bends, "bend_means": means, "bend_scales": scales}


def _moments(values: Floats) -> tuple[float, float]:
    """Return mean and standard deviation, without overflow for numbers of any size and exact for large offsets."""
    if not len(values):
        return 0.0, 0.0
    middle = float(values[len(values) // 2])
    with np.errstate(over="ignore"):
        shifted = values - middle
    size = float(np.abs(shifted).max())
    if size == 0.0 or not np.isfinite(size):
        return middle, 0.0
    shifted = shifted / size
    mean = middle + float(shifted.mean()) * size
    scale = float(shifted.std()) * size
    return (mean, scale) if np.isfinite(mean) and np.isfinite(scale) and scale > 1e-300 else (middle, 0.0)


def _bounds(values: Floats) -> tuple[float, float]:
    """Return how far values may lie outside the bulk before they are clipped."""
    if not len(values):
        return 0.0, 0.0
    q25, middle, q75 = np.quantile(values, [0.25, 0.5, 0.75])
    spread = q75 - q25
    if spread == 0:  # mostly one value, such as 0: then the bulk of the others decides
        others = values[values != middle]
        if not len(others):
            return float(middle), float(middle)
        q25, away, q75 = np.quantile(others, [0.25, 0.5, 0.75])
        spread = max(q75 - q25, abs(away - middle))
        q25, q75 = min(q25, middle), max(q75, middle)
    with np.errstate(over="ignore"):
        bounds = np.clip([q25 - _REACH * spread, q75 + _REACH * spread], -1e300, 1e300)
    return float(bounds[0]), float(bounds[1])

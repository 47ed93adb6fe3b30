"""Dates and times: when (one scaled number), and where in the year, the month, the week and the day.

What repeats is put on a circle, ``(sin 2πt, cos 2πt)`` with t the share of the period that has passed, so that December
lies beside January. A part that is the same in every training row is left out.
"""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import FiniteFloat, model_validator

from anchored._errors import InputError
from anchored.data import Column, NumberColumn, TextColumn, TimeColumn
from anchored.features.columns._base import ColumnEncoder, Features, Where, refuse_unreadable, with_indicator
from anchored.features.columns.date_text import DateOrder, read_dates

__all__ = ["DateEncoder", "times_of_numbers"]

Times = npt.NDArray[np.datetime64]
_DAY = 86_400.0
_Numbers = Literal["yyyymmdd", "seconds", "milliseconds", "none"]


class DateEncoder(ColumnEncoder):
    """Encode a column of dates and times.

    Args:
        order: What comes first in dates that are written as text.
        numbers: What a number stands for, if the column holds numbers.
        parts: The features that vary in training.
        means: Their means.
        scales: Their standard deviations.

    Example:
        >>> days = np.array(["2024-01-01", "2024-07-01", "2024-12-31"], dtype="datetime64[us]")
        >>> encoder = DateEncoder.fit(TimeColumn(days), order="ymd")
        >>> encoder.names[:3], encoder.transform(TimeColumn(days), where=str)[:, 0].round().tolist()
        (('when', 'season (sin)', 'season (cos)'), [-1.0, -0.0, 1.0])
    """

    kind: Literal["date"] = "date"
    order: DateOrder
    numbers: _Numbers = "none"
    parts: list[str]
    means: list[FiniteFloat]
    scales: list[FiniteFloat]

    @model_validator(mode="after")
    def _known_parts(self) -> Self:
        known = _parts(np.zeros(0, dtype="datetime64[us]"))
        if not len(self.parts) == len(self.means) == len(self.scales) or not set(self.parts) <= set(known):
            raise ValueError("each part needs a known name, a mean and a scale")
        return self

    @classmethod
    def fit(cls, column: Column, *, order: DateOrder, numbers: _Numbers = "none", lenient: bool = False) -> DateEncoder:
        """Learn which parts vary, and their means and scales, from training cells.

        Args:
            column: Times, texts or numbers.
            order: What comes first in dates that are written as text.
            numbers: What a number stands for.
            lenient: Whether cells that cannot be read count as missing.

        Returns:
            The encoder.

        Example:
            >>> mondays = TimeColumn(np.array(["2024-01-01", "2024-01-08"], dtype="datetime64[us]"))
            >>> DateEncoder.fit(mondays, order="ymd").action
            'when, season, day of month'
        """
        empty = cls(order=order, numbers=numbers, parts=[], means=[], scales=[], lenient=lenient)
        times = empty.read(column, where=str)
        missing = np.isnat(times)
        kept, means, scales = [], [], []
        for name, values in _parts(times[~missing]).items():
            scale = float(values.std())
            if scale > 1e-9 * max(1.0, float(np.abs(values).max(initial=0.0))):
                kept.append(name)
                means.append(float(values.mean()))
                scales.append(scale)
        share = float(missing.mean())
        return empty.model_copy(update={"parts": kept, "means": means, "scales": scales, "missing_mean": share})

    @property
    def names(self) -> tuple[str, ...]:
        """What each feature is."""
        return (*self.parts, *(("missing",) if self.missing_mean else ()))

    @property
    def action(self) -> str:
        """What is done with the column."""
        parts = list(dict.fromkeys(part.split(" (")[0] for part in self.parts))
        done = ", ".join(parts) if parts else "one value"
        return f"{done}; gaps marked" if self.missing_mean else done

    def transform(self, column: Column, where: Where) -> Features:
        """Encode dates and times.

        Args:
            column: Times, texts in the order of training, or numbers as in training.
            where: Names the place of a cell.

        Returns:
            Features ``(n, dim)``.

        Raises:
            InputError: If a cell is no date; the line names its row and column.
        """
        times = self.read(column, where)
        missing = np.isnat(times)
        parts = _parts(np.where(missing, np.datetime64(0, "us"), times))
        features = np.empty((len(times), len(self.parts)), dtype=np.float32)
        for place, (name, mean, scale) in enumerate(zip(self.parts, self.means, self.scales, strict=True)):
            features[:, place] = np.clip((parts[name] - mean) / scale, -100.0, 100.0)
        features[missing] = 0.0
        return with_indicator(features, missing, self.missing_mean)

    def read(self, column: Column, where: Where) -> Times:
        """Read the cells of a column as times.

        Args:
            column: Times, texts or numbers.
            where: Names the place of a cell.

        Returns:
            ``(n,)`` datetime64 in microseconds, NaT if missing.

        Example:
            >>> from anchored.data import column_of
            >>> encoder = DateEncoder.fit(column_of(["25/04/2021", "03/05/2021"], "t"), order="dmy")
            >>> encoder.read(column_of(["03/04/2021"], "t"), where=str).astype("datetime64[D]").astype(str).tolist()
            ['2021-04-03']
        """
        if isinstance(column, TimeColumn):
            return column.values
        if isinstance(column, TextColumn):
            values, unreadable = read_dates(column.levels, self.order)
            if not self.lenient:
                rule = f"a cell must be a date, as in training ({self.order})"
                refuse_unreadable(column, unreadable, where, rule, "correct the cell, or leave it empty")
            return np.append(values, np.datetime64("NaT", "us"))[column.codes]
        if isinstance(column, NumberColumn) and self.numbers != "none":
            times, unreadable = times_of_numbers(column.values, self.numbers)
            bad = np.flatnonzero(unreadable)
            if len(bad) and not self.lenient:
                raise InputError(f"{where(int(bad[0]))}: a cell must be a date, got {column.values[bad[0]]:.15g}")
            return times
        if isinstance(column, NumberColumn) and bool(column.missing.all()):
            return np.full(len(column), "NaT", dtype="datetime64[us]")
        raise InputError(f"{where(0)}: a cell must be a date, as in training; correct the column")


def times_of_numbers(values: npt.NDArray[np.float64], numbers: _Numbers) -> tuple[Times, npt.NDArray[np.bool_]]:
    """Read numbers as times.

    Args:
        values: ``(n,)``; NaN is missing.
        numbers: What they stand for: ``20240131``, or seconds or milliseconds since 1970.

    Returns:
        Times ``(n,)``, NaT if missing or unreadable, and which are unreadable ``(n,)``.

    Example:
        >>> times, bad = times_of_numbers(np.array([20240229.0, 20240230.0]), "yyyymmdd")
        >>> times.astype("datetime64[D]").astype(str).tolist(), bad.tolist()
        (['2024-02-29', 'NaT'], [False, True])
    """
    given = np.isfinite(values)
    if numbers != "yyyymmdd":
        unit = 1e6 if numbers == "seconds" else 1e3
        good = given & (np.abs(values) < 9e18 / unit)
        micro = np.where(good, values, 0.0) * unit
        times = np.where(good, micro.astype(np.int64).astype("datetime64[us]"), np.datetime64("NaT", "us"))
        return times, ~good & ~np.isnan(values)
    whole = np.where(given, values, 0.0)
    year, rest = np.floor(whole / 10_000), np.mod(whole, 10_000)
    month, day = np.floor(rest / 100), np.mod(rest, 100)
    good = given & (whole == np.floor(whole)) & (year >= 1800) & (year <= 2200)
    good &= (month >= 1) & (month <= 12) & (day >= 1)
    first = np.where(good, year * 12 + month - 1 - 1970 * 12, 0.0).astype(np.int64).astype("datetime64[M]")
    days_in_month = ((first + 1).astype("datetime64[D]") - first.astype("datetime64[D]")).astype(np.int64)
    good &= day <= days_in_month
    moments = (first.astype("datetime64[D]") + np.where(good, day - 1, 0).astype(np.int64)).astype("datetime64[us]")
    return np.where(good, moments, np.datetime64("NaT", "us")), ~good & ~np.isnan(values)


def _parts(times: Times) -> dict[str, npt.NDArray[np.float64]]:
    """Return every feature of times, unscaled."""
    days = times.astype("datetime64[D]")
    number = days.astype(np.int64).astype(np.float64)
    clock = (times - days).astype("timedelta64[us]").astype(np.int64) / 1e6 / _DAY
    months = days.astype("datetime64[M]")
    years = days.astype("datetime64[Y]")
    in_month = (days - months.astype("datetime64[D]")).astype(np.int64).astype(np.float64)
    in_year = (days - years.astype("datetime64[D]")).astype(np.int64) / 366.0
    weekday = np.mod(number + 3, 7)  # 1 January 1970 was a Thursday; Monday is 0
    return {
        "when": number + clock,
        "season (sin)": np.sin(2 * np.pi * in_year),
        "season (cos)": np.cos(2 * np.pi * in_year),
        "day of month": in_month,
        "weekday (sin)": np.sin(2 * np.pi * weekday / 7),
        "weekday (cos)": np.cos(2 * np.pi * weekday / 7),
        "weekend": (weekday >= 5).astype(np.float64),
        "hour (sin)": np.sin(2 * np.pi * clock),
        "hour (cos)": np.cos(2 * np.pi * clock),
    }

"""Dates and times as people write them: ISO, day or month first, English month names, with or without a time.

Whether ``03/04/2021`` is in March or in April is decided by the whole column: one ``25/04/2021`` settles it. If nothing
does, the column is refused, unless dots separate the parts, which is always day first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

import numpy as np
import numpy.typing as npt

from anchored.data import MISSING_WORDS
from anchored.features.columns.number_text import SOFT_MISSING

__all__ = ["DateOrder", "DatesFound", "find_dates", "read_dates"]

DateOrder = Literal["ymd", "dmy", "mdy"]
"""The order of day, month and year where numbers stand for all three; a year of four digits in front is always ymd."""

_TIME = r"(?:[T ,]+(?P<time>\d{1,2}:\d{2}.*))?"
_NUMERIC = re.compile(rf"(?P<a>\d{{1,4}})(?P<gap>[-/.])(?P<b>\d{{1,2}})(?P=gap)(?P<c>\d{{4}}|\d{{1,2}}){_TIME}")
_COMPACT = re.compile(r"(?P<a>(?:19|20)\d{2})(?P<b>[01]\d)(?P<c>[0-3]\d)")
_DAY_NAME = re.compile(
    rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th)?[ \-/.]+(?P<m>[A-Za-z]{{3,9}})\.?[ \-/,.]+(?P<y>\d{{4}}|\d{{2}}){_TIME}"
)
_NAME_DAY = re.compile(rf"(?P<m>[A-Za-z]{{3,9}})\.? (?P<d>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y>\d{{4}}){_TIME}")
_WEEKDAY = re.compile(r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,? ", re.IGNORECASE)
_CLOCK = re.compile(
    r"(?P<h>\d{1,2}):(?P<min>\d{2})(?::(?P<s>\d{2})(?:[.,](?P<f>\d{1,9}))?)?\s*(?:(?P<half>[AaPp])\.?[Mm]\.?)?"
    r"\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2})?"
)
_MONTHS = {
    name: place
    for place, names in enumerate(
        (
            "jan january", "feb february", "mar march", "apr april", "may", "jun june",
            "jul july", "aug august", "sep sept september", "oct october", "nov november", "dec december",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?")


@dataclass(frozen=True)
class DatesFound:
    """What a column of texts holds if it is read as dates.

    Args:
        order: The order of the parts, or None if both day and month first are possible.
        values: One time per level, NaT if it is missing or cannot be read; with ``order`` None, read as day first.
        unreadable: Which levels are neither dates nor missing.
    """

    order: DateOrder | None
    values: npt.NDArray[np.datetime64]
    unreadable: npt.NDArray[np.bool_]


def find_dates(levels: Sequence[str]) -> DatesFound:
    """Find how a column writes its dates.

    Args:
        levels: The distinct texts of the column.

    Returns:
        The order that reads the most texts, and what it reads.

    Example:
        >>> found = find_dates(["03/04/2021", "25/04/2021"])
        >>> found.order, found.values.astype("datetime64[D]").astype(str).tolist()
        ('dmy', ['2021-04-03', '2021-04-25'])
        >>> find_dates(["03/04/2021", "05/06/2021"]).order is None
        True
    """
    values, unreadable = read_dates(levels, "dmy")
    if not unreadable.any():
        other, also = read_dates(levels, "mdy")
        if also.any() or np.array_equal(values, other, equal_nan=True):
            first_year = all(_COMPACT.fullmatch(level) or level[:4].isdigit() for level in levels[:1])
            return DatesFound("ymd" if first_year and not also.any() else "dmy", values, unreadable)
        if any((match := _NUMERIC.match(level)) and match["gap"] == "." for level in levels):
            return DatesFound("dmy", values, unreadable)
        return DatesFound(None, values, unreadable)
    other, also = read_dates(levels, "mdy")
    return DatesFound("mdy", other, also) if also.sum() < unreadable.sum() else DatesFound("dmy", values, unreadable)


def read_dates(levels: Sequence[str], order: DateOrder) -> tuple[npt.NDArray[np.datetime64], npt.NDArray[np.bool_]]:
    """Read dates that are written in one order.

    Args:
        levels: The texts.
        order: What comes first where all parts are numbers and the year does not.

    Returns:
        The times ``(m,)`` in microseconds, NaT if missing or unreadable, and which texts are unreadable ``(m,)``. A
        time zone is taken off, so that the times are UTC.

    Example:
        >>> values, unreadable = read_dates(["3 March 2021 14:05", "2021-03-03T16:05+02:00", "soon"], "dmy")
        >>> values.astype(str).tolist()[:2], unreadable.tolist()
        (['2021-03-03T14:05:00.000000', '2021-03-03T14:05:00.000000'], [False, False, True])
    """
    unreadable = np.zeros(len(levels), dtype=bool)
    if levels and all(map(_ISO.fullmatch, levels)):
        try:
            return np.array(levels, dtype="datetime64[us]"), unreadable
        except ValueError:  # such as 30 February: found one by one
            pass
    values = np.full(len(levels), "NaT", dtype="datetime64[us]")
    for place, level in enumerate(levels):
        moment = _moment(level, order)
        if moment is not None:
            values[place] = moment
        else:
            unreadable[place] = not (level in MISSING_WORDS or level.lower() in SOFT_MISSING)
    return values, unreadable


def _moment(level: str, order: DateOrder) -> np.datetime64 | None:
    text = _WEEKDAY.sub("", level, count=1) if level[:1].isalpha() else level
    match = _NUMERIC.fullmatch(text) or _COMPACT.fullmatch(text)
    if match is not None:
        a, b, c = match["a"], match["b"], match["c"]
        if len(a) == 4:
            year, month, day = a, b, c
        elif len(a) > 2:
            return None
        else:
            day, month, year = (a, b, c) if order != "mdy" else (b, a, c)
        return _composed(year, int(month), day, match.groupdict().get("time"))
    match = _DAY_NAME.fullmatch(text) or _NAME_DAY.fullmatch(text)
    if match is not None and match["m"].lower() in _MONTHS:
        return _composed(match["y"], _MONTHS[match["m"].lower()], match["d"], match["time"])
    if _CLOCK.fullmatch(text):
        return _composed("1970", 1, "1", text)
    return None


def _composed(year: str, month: int, day: str, time: str | None) -> np.datetime64 | None:
    number = int(year)
    if len(year) <= 2:
        number += 2000 if number < 69 else 1900  # as POSIX reads two digits
    try:
        moment = np.datetime64(date(number, month, int(day)), "us")
    except ValueError:
        return None
    if time is None:
        return moment
    clock = _CLOCK.fullmatch(time.strip())
    if clock is None:
        return None
    hour, minute, second = int(clock["h"]), int(clock["min"]), int(clock["s"] or 0)
    if clock["half"]:
        hour = hour % 12 + (12 if clock["half"] in "pP" else 0)
    if hour > 24 or minute > 59 or second > 60:
        return None
    micro = int((clock["f"] or "0").ljust(6, "0")[:6])
    offset = 0
    zone = clock["zone"]
    if zone and zone[0] in "+-":
        digits = zone[1:].replace(":", "")
        offset = (int(digits[:2]) * 60 + int(digits[2:])) * (1 if zone[0] == "+" else -1)
    seconds = hour * 3600 + (minute - offset) * 60 + second
    return moment + np.timedelta64(seconds * 1_000_000 + micro, "us")

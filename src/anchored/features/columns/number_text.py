"""Numbers as people write them: thousands separators, decimal commas, percent and currency signs, units.

One style is found for a whole column, from all its cells together: ``1,234`` alone could be either, ``1,5`` beside it
could not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from anchored.data import MISSING_WORDS

__all__ = [
    "KNOWN_UNITS",
    "SOFT_MISSING",
    "NumberStyle",
    "NumbersFound",
    "find_numbers",
    "of_other_unit",
    "read_numbers",
]

NumberStyle = Literal["point", "comma", "space-point", "space-comma"]
"""How numbers are written: the decimal sign, and whether blanks or apostrophes separate thousands."""

SOFT_MISSING = frozenset(
    ("-", "--", "---", "–", "—", "?", "??", ".", "*", "x", "X", "na", "n.a.", "none", "unknown", "missing")
)
"""What stands for a missing cell only in a column whose other cells are numbers or dates."""

_CURRENCY = r"[$€£¥₩₹₽₺₴฿]|USD|EUR|GBP|JPY|KRW|CHF|CNY|INR|BRL|R\$|kr"
_BLANKS = " \u00a0\u202f'’"
_CELL = re.compile(
    rf"(?P<sign>[+\-−]?)\s*(?P<before>(?:{_CURRENCY})?)\s*(?P<inner>(?<![+\-−])[+\-−]?)"
    rf"(?P<body>\d(?:[\d.,{_BLANKS}]*\d)?\.?|[.,]\d+)(?P<power>(?:[eE][+-]?\d+)?)\s*"
    rf"(?P<after>(?:%|‰|{_CURRENCY}|°[A-Za-z]?|[^\W\d_]{{1,6}}[²³]?(?:/[^\W\d_]{{1,3}}[²³]?)?)?)"
)
_GAP = f"[{_BLANKS}]"
_BODY: dict[NumberStyle, re.Pattern[str]] = {
    "point": re.compile(r"\d+\.?\d*|\.\d+|[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?"),
    "comma": re.compile(r"\d+(?:,\d+)?|,\d+|[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?"),
    "space-point": re.compile(rf"\d+(?:\.\d+)?|[1-9]\d{{0,2}}(?:{_GAP}\d{{3}})+(?:\.\d+)?"),
    "space-comma": re.compile(rf"\d+(?:,\d+)?|[1-9]\d{{0,2}}(?:{_GAP}\d{{3}})+(?:,\d+)?"),
}
_CODE = re.compile(r"0\d+")
_NO_BLANKS = str.maketrans("", "", _BLANKS)
KNOWN_UNITS = frozenset(
    (
        "%", "‰", "kg", "g", "mg", "t", "lb", "lbs", "oz", "km", "m", "cm", "mm", "mi", "ft", "in", "yd", "l", "ml",
        "cl", "gal", "h", "hr", "hrs", "min", "s", "sec", "ms", "kb", "mb", "gb", "tb", "°c", "°f", "$", "€", "£", "¥",
        "₩", "₹", "usd", "eur", "gbp", "jpy", "krw", "chf", "cny", "inr", "brl",
    )
)  # fmt: skip
"""Signs after or before a number that surely are units, in small letters: two of them in one column are a mistake."""


@dataclass(frozen=True)
class NumbersFound:
    """What a column of texts holds if it is read as numbers.

    Args:
        style: The way in which most cells can be read.
        values: One number per level, NaN if it is missing or cannot be read.
        unreadable: Which levels are neither numbers nor missing.
        signs: The units, currency and percent signs that occur, in small letters; ``""`` if a number has none.
        codes: Whether a number begins with a zero that a number would not have, such as ``007``.
        ambiguous: Whether another style would read all cells too, and as other numbers.
    """

    style: NumberStyle
    values: npt.NDArray[np.float64]
    unreadable: npt.NDArray[np.bool_]
    signs: frozenset[str]
    codes: bool
    ambiguous: bool


def find_numbers(levels: Sequence[str], counts: npt.NDArray[np.int64] | None = None) -> NumbersFound:
    """Find how a column writes its numbers.

    Args:
        levels: The distinct texts of the column.
        counts: How many rows each has; by default one each.

    Returns:
        The style that reads the most rows, and what it reads. If two read as many, the decimal point wins.

    Example:
        >>> find_numbers(["1.234,5", "7"]).values.tolist(), find_numbers(["$1,234", "$5"]).values.tolist()
        ([1234.5, 7.0], [1234.0, 5.0])
        >>> find_numbers(["12 kg", "heavy"]).unreadable.tolist()
        [False, True]
    """
    weights = np.ones(len(levels), dtype=np.int64) if counts is None else counts
    matches = [_CELL.fullmatch(level) for level in levels]
    bodies = [None if match is None else match["body"] for match in matches]
    readable = {
        style: np.array([body is not None and pattern.fullmatch(body) is not None for body in bodies], dtype=bool)
        for style, pattern in _BODY.items()
    }
    rows = {style: int(weights[flags].sum()) for style, flags in readable.items()}
    style = max(rows, key=lambda name: rows[name])  # the first of the largest
    read = readable[style]
    signs = frozenset(
        (match["before"] or match["after"]).lower() for match, good in zip(matches, read, strict=True) if match and good
    )
    codes = any(body is not None and _CODE.fullmatch(body) is not None for body in bodies)
    values, unreadable = read_numbers(levels, style)
    other = next((name for name, count in rows.items() if name != style and count == rows[style]), None)
    ambiguous = False
    if other is not None and rows[style]:
        ambiguous = not np.array_equal(read_numbers(levels, other)[0], values, equal_nan=True)
    return NumbersFound(style, values, unreadable, signs, codes, ambiguous)


def read_numbers(levels: Sequence[str], style: NumberStyle) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Read numbers that are written in one style.

    Args:
        levels: The texts.
        style: How they are written.

    Returns:
        The numbers ``(m,)``, NaN if missing or unreadable, and which texts are unreadable ``(m,)``.

    Example:
        >>> values, unreadable = read_numbers(["-1 234,5 €", "?", "many"], "space-comma")
        >>> values.tolist(), unreadable.tolist()
        ([-1234.5, nan, nan], [False, False, True])
    """
    values = np.full(len(levels), np.nan)
    unreadable = np.zeros(len(levels), dtype=bool)
    pattern, comma = _BODY[style], style.endswith("comma")
    for place, level in enumerate(levels):
        match = _CELL.fullmatch(level)
        if match is None or pattern.fullmatch(match["body"]) is None:
            unreadable[place] = not _is_missing(level)
            if unreadable[place] and level.lower().lstrip("+-") in ("inf", "infinity"):
                values[place], unreadable[place] = float(level), False
            continue
        body = match["body"].translate(_NO_BLANKS)
        body = body.replace(".", "").replace(",", ".") if comma else body.replace(",", "")
        value = float(body + match["power"])
        values[place] = -value if (match["sign"] or match["inner"]) in ("-", "−") else value
    return values, unreadable


def of_other_unit(levels: Sequence[str], unit: str) -> npt.NDArray[np.bool_]:
    """Tell which numbers have another unit than their column had in training.

    Args:
        levels: The texts.
        unit: The sign or unit of training, in small letters; ``""`` if the numbers had none.

    Returns:
        One flag per text ``(m,)``. A number without a unit counts as one of any unit but percent.

    Example:
        >>> of_other_unit(["12 kg", "12", "500 g", "?"], "kg").tolist(), of_other_unit(["0.5", "5 %"], "%").tolist()
        ([False, False, True, False], [True, False])
    """
    flags = np.zeros(len(levels), dtype=bool)
    for place, level in enumerate(levels):
        match = _CELL.fullmatch(level)
        if match is None:
            continue
        own = (match["before"] or match["after"]).lower()
        known = {own, unit} <= KNOWN_UNITS | {""}
        flags[place] = own != unit and known and (bool(own and unit) or "%" in (own, unit))
    return flags


def _is_missing(level: str) -> bool:
    return level in MISSING_WORDS or level in SOFT_MISSING or level.lower() in SOFT_MISSING

"""Numbers and names as a reader wants them: percentages with the digits they deserve, names that cannot misbehave.

Names of classes, files and columns come from users. Markup in them is harmless where the page escapes it; what no
escape helps against is dealt with here: control characters, which HTML has no place for, letters that turn the reading
direction of everything after them, halves of a character, and names as long as a page.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

__all__ = ["count", "listed", "name", "percent", "points", "shortened"]

_TURNS_DIRECTION = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_STAND_IN = "\ufffd"


def percent(share: float | None, digits: int = 1) -> str:
    """Write a share as a percentage; a dash if there is none.

    Args:
        share: Share between 0 and 1, or None.
        digits: Digits after the point; more are used if the number would otherwise read 0 or 100.

    Example:
        >>> percent(0.8667), percent(1 - 1e-9), percent(0.0004), percent(None)
        ('86.7 %', '100 %', '0.04 %', '–')
    """
    if share is None or share != share:
        return "–"
    if float(f"{100 * share:.4f}") in (0.0, 100.0):
        return f"{100 * share:.0f} %"
    while digits < 4 and not 0 < float(f"{100 * share:.{digits}f}") < 100:
        digits += 1  # neither "0.0 %" of something nor "100.0 %" of not quite everything
    return f"{100 * share:.{digits}f} %"


def points(difference: float) -> str:
    """Write a difference of two shares in percentage points, with its sign.

    Example:
        >>> points(0.031), points(-0.2)
        ('+3.1', '−20.0')
    """
    return f"{100 * difference:+.1f}".replace("-", "−")


def count(n: float, thing: str = "", plural: str | None = None) -> str:
    """Write a whole number with commas between thousands, and the name of what is counted.

    Args:
        n: The number.
        thing: Name of one thing; empty for the number alone.
        plural: Name of several things; by default ``thing`` with an s.

    Example:
        >>> count(1234), count(1, "label"), count(3, "class", "classes")
        ('1,234', '1 label', '3 classes')
    """
    if not thing:
        return f"{n:,.0f}"
    return f"{n:,.0f} {thing if n == 1 else plural or thing + 's'}"


def listed(words: Sequence[str]) -> str:
    """Join words with commas and a last "and".

    Example:
        >>> listed(["a"]), listed(["a", "b", "c"])
        ('a', 'a, b and c')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def name(text: object, longest: int = 120) -> str:
    r"""Make a user's name for something fit to be shown.

    Args:
        text: Name of a class, file or column; anything that can be printed.
        longest: Largest number of characters.

    Example:
        >>> name("cat\n\u202egod\x00"), name("x" * 300, longest=5)
        ('cat god�', 'xxxx…')
    """
    plain = " ".join("".join(c for c in str(text) if c not in _TURNS_DIRECTION).split())
    shown = "".join(_STAND_IN if unicodedata.category(c) in ("Cc", "Cs") else c for c in plain)
    return shortened(shown, longest) if shown else "(no name)"


def shortened(text: str, longest: int) -> str:
    """Cut ``text`` to a length, with an ellipsis at the end if something was cut.

    Args:
        text: Any text.
        longest: Largest number of characters.

    Example:
        >>> shortened("kingfisher", 6)
        'kingf…'
    """
    return text if len(text) <= longest else text[: longest - 1] + "…"

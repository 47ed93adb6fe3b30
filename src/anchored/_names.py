"""Names from literal tables; the error for an unknown name shows the nearest ones."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TypeVar

from anchored._errors import InputError

__all__ = ["choose", "is_number", "suggest"]

T = TypeVar("T")


def suggest(name: str, known: Mapping[str, object] | list[str]) -> str:
    """Return the end of an error message: the nearest known names, or all of them if none is near.

    Args:
        name: The unknown name.
        known: The names that exist.

    Example:
        >>> suggest("gcee", ["ce", "gce", "nsl"])
        "did you mean 'gce' or 'ce'?"
        >>> suggest("zzz", ["ce", "gce"])
        'choose from ce, gce'
    """
    near = get_close_matches(name, list(known), n=2, cutoff=0.5)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else f"choose from {', '.join(known)}"


def choose(name: str, table: Mapping[str, T], *, what: str) -> T:
    """Return the entry called ``name``, or raise an error that shows the nearest names.

    Args:
        name: The name as given.
        table: Name to entry.
        what: What the table holds, for the error message.

    Returns:
        The entry.

    Raises:
        InputError: If the table has no such name.

    Example:
        >>> choose("ce", {"ce": 1}, what="loss")
        1
    """
    if name in table:
        return table[name]
    raise InputError(f"unknown {what} {name!r}; {suggest(str(name), table)}")


def is_number(text: str) -> bool:
    """Return whether a text is a number.

    Example:
        >>> is_number("1e-3"), is_number("one")
        (True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return True

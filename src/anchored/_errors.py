"""The error for everything that a user can do wrong: one line with what, where, the rule and the way out."""

from __future__ import annotations

__all__ = ["InputError", "ending"]


class InputError(ValueError):
    """The error for something that the user gave and that cannot be used.

    It is a ``ValueError``, so library users catch it as they would expect; the command line
    prints its one line and ends with exit code 2. Any other exception there is a bug of ours.

    Example:
        >>> raise InputError("k must be at least 2, got 1; a single class needs no classifier")
        Traceback (most recent call last):
        ...
        anchored._errors.InputError: k must be at least 2, got 1; a single class needs no classifier
    """


def ending(way_out: str) -> str:
    """Return ``"; way_out"``, or nothing: the end of a message.

    Example:
        >>> ending("give another folder"), ending("")
        ('; give another folder', '')
    """
    return f"; {way_out}" if way_out else ""

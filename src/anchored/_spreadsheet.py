"""CSV files that people open in a spreadsheet, which runs a cell that begins like a formula.

Class and file names are data: a name such as ``=cmd|' /C calc'!A0`` is written as it is, so that other programs read
back what was there. With ``--spreadsheet-safe`` such a cell begins with an apostrophe: spreadsheets take it for text.
"""

from __future__ import annotations

__all__ = ["safe_cell"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def safe_cell(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would take for a formula.

    Args:
        text: The content of a cell that is text; numbers are none.

    Returns:
        The text, with an apostrophe in front if it begins with ``=``, ``+``, ``-``, ``@``, a tab or a line break.

    Example:
        >>> safe_cell("=1+1"), safe_cell("cat")
        ("'=1+1", 'cat')

    References:
        OWASP, CSV Injection.
    """
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text

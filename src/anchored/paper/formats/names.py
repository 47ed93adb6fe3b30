"""Formats by name: functions from a comparison to text."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from anchored._names import choose
from anchored.paper.comparison import Comparison
from anchored.paper.formats.comma import to_csv
from anchored.paper.formats.latex import to_latex
from anchored.paper.formats.markdown import to_markdown
from anchored.paper.formats.page import to_html

__all__ = ["FORMATS", "get"]

FORMATS: Mapping[str, Callable[[Comparison], str]] = {
    "markdown": to_markdown,
    "latex": to_latex,
    "csv": to_csv,
    "html": to_html,
}
"""The values of ``--format``."""


def get(name: str) -> Callable[[Comparison], str]:
    """Return the function that writes a comparison in the format called ``name``.

    Raises:
        InputError: If there is no such format.

    Example:
        >>> get("csv").__name__
        'to_csv'
    """
    return choose(name, FORMATS, what="format")

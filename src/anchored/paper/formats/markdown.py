"""A comparison as a Markdown table."""

from __future__ import annotations

from anchored.paper.comparison import Comparison
from anchored.paper.formats._grid import grid

__all__ = ["to_markdown"]


def to_markdown(comparison: Comparison) -> str:
    """Write the comparison as Markdown: title, table and notes.

    Example:
        >>> from anchored.paper import TABLES, compare
        >>> print(to_markdown(compare(TABLES["weight_decay"], [], cells=["5e-4"])).splitlines()[4])
        | CE | paper | 40.49 |
    """
    headings = ["method", "", *(comparison.heading(column) for column in comparison.columns)]
    lines = [
        f"**{comparison.table.title}**",
        "",
        _row(headings),
        "|---|---|" + "---:|" * len(comparison.columns),
        *(_row([line.method, line.kind, *line.cells]) for line in grid(comparison)),
        "",
        *(f"- {_plain(note)}" for note in comparison.notes),
    ]
    return "\n".join(lines) + "\n"


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(_plain(cell) for cell in cells) + " |"


def _plain(text: str) -> str:
    """A bar would end the cell, and two stars in a line would set what lies between in italics."""
    return text.replace("|", "\\|").replace("*", "\\*")

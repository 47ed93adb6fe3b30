"""The grid that Markdown, LaTeX and HTML have in common: up to three lines per method.

``ours`` where it was run, ``paper`` where a number was published, ``difference`` where there are both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anchored.paper.comparison import Comparison, Entry

__all__ = ["GridLine", "grid"]


@dataclass(frozen=True)
class GridLine:
    """One printed line.

    Attributes:
        method: The method's title, on its first line only.
        kind: ``ours``, ``paper`` or ``difference``.
        cells: One text per column; empty where there is nothing.
    """

    method: str
    kind: str
    cells: tuple[str, ...]


def grid(comparison: Comparison, *, plus_minus: str = "±", minus: str = "−") -> list[GridLine]:
    """The lines of ``comparison`` in print.

    Args:
        comparison: What to print.
        plus_minus: The sign before a standard deviation.
        minus: The sign of negative differences.
    """

    def number(mean: float | None, std: float | None) -> str:
        if mean is None:
            return ""
        return f"{mean:.2f}" if std is None else f"{mean:.2f} {plus_minus} {std:.2f}"

    def ours(entry: Entry) -> str:
        return number(entry.mean, entry.std)

    def paper(entry: Entry) -> str:
        return "" if entry.published is None else number(entry.published.mean, entry.published.std)

    def difference(entry: Entry) -> str:
        if entry.difference is None:
            return ""
        sign = minus if entry.difference < 0 else "+"
        return f"{sign}{abs(entry.difference):.2f}{'*' if entry.inside is False else ''}"

    kinds: tuple[tuple[str, Callable[[Entry], str]], ...] = (
        ("ours", ours),
        ("paper", paper),
        ("difference", difference),
    )
    lines = []
    for line in comparison.lines:
        title = line.title
        for kind, show in kinds:
            found = [line.entries.get(column) for column in comparison.columns]
            cells = tuple("" if entry is None else show(entry) for entry in found)
            if any(cells):
                lines.append(GridLine(title, kind, cells))
                title = ""
    return lines

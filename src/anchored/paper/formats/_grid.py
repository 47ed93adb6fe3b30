"""The grid that Markdown, LaTeX and HTML have in common: up to three lines per method.

``ours`` if it was run, ``paper`` if a number was published, ``difference`` if there are both.
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
        cells: One text per column; empty if there is no number.
    """

    method: str
    kind: str
    cells: tuple[str, ...]


def grid(comparison: Comparison, *, plus_minus: str = "±", minus: str = "−") -> list[GridLine]:
    """Return the printed lines of ``comparison``.

    Args:
        comparison: Our numbers and the published ones.
        plus_minus: The sign before a standard deviation.
        minus: The sign of negative differences.

    Returns:
        Up to three lines per method: ours, the paper's, and their difference.

    Example:
        >>> from anchored.paper import TABLES, compare
        >>> grid(compare(TABLES["weight_decay"], [], cells=["5e-4"]))[0]
        GridLine(method='CE', kind='paper', cells=('40.49',))
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

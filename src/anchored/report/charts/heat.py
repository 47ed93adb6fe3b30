"""A square table as a picture: row against column, darker for more, with the numbers in the cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from markupsafe import Markup

from anchored.report._svg import FIRST, INK, ON, ON_SECOND, SECOND, drawing
from anchored.report._words import name as shown

__all__ = ["heat"]

_LONGEST = 18


def heat(
    name: str,
    table: Sequence[Sequence[float]],
    names: Sequence[str],
    *,
    row: str,
    column: str,
    text: Callable[[float], str],
) -> Markup:
    """Draw a square table, each row in shares of its own sum, with the diagonal in a colour of its own.

    Args:
        name: Name of the picture; no two on a page may have the same.
        table: ``(k, k)`` of values that are at least 0.
        names: Names of the rows, which are also those of the columns.
        row: Title of the rows.
        column: Title of the columns.
        text: Gives the text in a cell of this value; empty for none.

    Returns:
        The picture as inline SVG.

    Example:
        >>> svg = heat("h", [[3, 1], [0, 2]], ["a", "<b>"], row="true", column="said", text=lambda v: f"{v:g}")
        >>> "&lt;b&gt;" in svg
        True
    """
    from matplotlib.patches import Rectangle

    k = len(names)
    side = min(0.42, max(0.24, 5.2 / k))
    labels = [shown(each, _LONGEST) for each in names]
    longest = max(map(len, labels))
    slanted = longest > 3
    beside, above = 0.4 + 0.065 * longest, 0.45 + 0.048 * longest * slanted
    with drawing(name, min(7.2, side * k + beside + 0.048 * longest * slanted), side * k + above) as picture:
        (axes,) = picture.axes()
        for i, values in enumerate(table):
            total = sum(values)
            for j, value in enumerate(values):
                if value <= 0:
                    continue
                share = value / total
                colour = FIRST if i == j else SECOND
                # A mistake of one in ten must be seen at a glance; the square root lifts small shares.
                strength = 0.12 + 0.78 * (share if i == j else share**0.5)
                cell = axes.add_patch(Rectangle((j - 0.48, i - 0.48), 0.96, 0.96, facecolor=colour, alpha=strength))
                on = INK if strength <= 0.6 else ON if i == j else ON_SECOND
                size = 7.5 if k <= 14 else 6.5
                said = axes.text(j, i, text(value), ha="center", va="center", fontsize=size, color=on)
                for artist in (cell, said):
                    artist.set_in_layout(False)  # they lie within the axes; measuring each would take most of the time
        axes.set(xlim=(-0.5, k - 0.5), ylim=(k - 0.5, -0.5), xlabel=column, ylabel=row, aspect="equal")
        axes.grid(visible=False)
        axes.set_xticks(range(k), labels, rotation=45 if slanted else 0, ha="left" if slanted else "center")
        axes.set_yticks(range(k), labels)
        axes.xaxis.tick_top()
        axes.xaxis.set_label_position("top")
        axes.tick_params(labelcolor=INK)
        for spine in axes.spines.values():
            spine.set_visible(False)
    return picture.svg

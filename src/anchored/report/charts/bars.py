"""Horizontal bars, one per class: a value with its interval, or two parts that add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from anchored.report._svg import FIRST, INK, MUTED, SECOND, drawing
from anchored.report._words import name as shown

__all__ = ["Bar", "bars"]

_LONGEST = 26


@dataclass(frozen=True)
class Bar:
    """One line of the picture.

    Args:
        name: Label at the left, verbatim.
        value: Length of the bar, or None for no bar.
        interval: Range in which the value may lie, drawn as a thin line.
        part: Part of the value that is drawn in the second colour, at the end of the bar.
        text: Text at the right.
        colour: One of the stand-in colours.
    """

    name: str
    value: float | None
    interval: tuple[float, float] | None = None
    part: float = 0.0
    text: str = ""
    colour: str = FIRST


def bars(
    name: str,
    lines: Sequence[Bar],
    *,
    label: str,
    limit: float | None = None,
    mark: float | None = None,
    mark_text: str = "",
    legend: Sequence[tuple[str, str]] = (),
) -> Markup:
    """Draw horizontal bars.

    Args:
        name: Name of the picture; no two on a page may have the same.
        lines: The bars, from top to bottom.
        label: Label of the axis.
        limit: End of the axis; by default a little beyond the longest bar.
        mark: Value at which a vertical line is drawn, or None.
        mark_text: Text at that line.
        legend: Colours and what they mean.

    Returns:
        The picture as inline SVG.

    Example:
        >>> svg = bars("b", [Bar("<b>", 3.0), Bar("dog", None, text="no sample")], label="samples")
        >>> "&lt;b&gt;" in svg, "no sample" in svg
        (True, True)
    """
    from matplotlib.patches import Patch

    longest = max([bar.value or 0.0 for bar in lines] + [bar.interval[1] for bar in lines if bar.interval] + [1e-9])
    end = limit or longest * 1.02
    with drawing(name, 7.2, 0.55 + 0.21 * len(lines) + 0.25 * bool(legend or mark_text)) as picture:
        (axes,) = picture.axes()
        for place, bar in enumerate(lines):
            if bar.value is not None:
                axes.barh(place, bar.value - bar.part, height=0.72, color=bar.colour)
                axes.barh(place, bar.part, left=bar.value - bar.part, height=0.72, color=SECOND)
            if bar.interval is not None:
                axes.plot(bar.interval, (place, place), color=INK, linewidth=0.9, alpha=0.55, solid_capstyle="butt")
            axes.annotate(
                bar.text, (1.0, place), xycoords=("axes fraction", "data"), xytext=(6, 0), textcoords="offset points",
                va="center", color=MUTED, fontsize=7.5,
            )  # fmt: skip
        axes.set_yticks(range(len(lines)), [shown(bar.name, _LONGEST) for bar in lines])
        axes.tick_params(axis="y", labelcolor=INK)
        axes.set_ylim(len(lines) - 0.4, -0.6)
        axes.set_xlim(0, end)
        axes.grid(visible=False, axis="y")
        axes.spines["left"].set_visible(False)
        axes.set_xlabel(label)
        if mark is not None:
            axes.axvline(mark, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
            axes.annotate(
                mark_text, (mark, 1), xycoords=("data", "axes fraction"), xytext=(0, 2), textcoords="offset points",
                ha="center" if mark < 0.85 * end else "right", va="bottom", fontsize=7.5, color=INK,
            )  # fmt: skip
        if legend:
            handles = [Patch(color=colour, label=text) for colour, text in legend]
            picture.figure.legend(handles=handles, loc="outside upper left", ncols=len(handles))
    return picture.svg

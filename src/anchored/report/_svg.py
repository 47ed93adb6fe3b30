"""Pictures that follow the page: matplotlib draws with stand-in colours, which become the page's own CSS variables.

One drawing so serves light, dark and print. Text stays text, in the page's typeface; dollar signs in a class name are
dollar signs and no formula. Element ids are removed, as several pictures share one page; what is left of them (clip
paths, markers) is made from the picture's own name.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from anchored._errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS",
    "FIRST",
    "FOURTH",
    "GRID",
    "INK",
    "MUTED",
    "ON",
    "ON_SECOND",
    "SECOND",
    "THIRD",
    "Drawing",
    "drawing",
]

INK, MUTED, GRID, ON, ON_SECOND = "#010101", "#020202", "#030303", "#040404", "#090909"
FIRST, SECOND, THIRD, FOURTH = "#050505", "#060606", "#070707", "#080808"
COLOURS = {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    GRID: "var(--line)",
    ON: "var(--on)",
    ON_SECOND: "var(--on-second)",
    FIRST: "var(--first)",
    SECOND: "var(--second)",
    THIRD: "var(--third)",
    FOURTH: "var(--fourth)",
}
"""CSS variable of each stand-in colour."""

_STYLE: Any = {  # the names are matplotlib's, and so long a type that it says nothing
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 8,
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.facecolor": "none",
    "axes.linewidth": 0.8,
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "text.color": INK,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "lines.linewidth": 1.6,
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    "patch.linewidth": 0,
    "path.simplify": True,
}


@dataclass
class Drawing:
    """A figure while it is drawn; ``svg`` is there once the ``with`` block has ended."""

    figure: Figure
    svg: Markup = field(default_factory=Markup)

    def axes(self, rows: int = 1, columns: int = 1, **options: Any) -> list[Axes]:  # noqa: ANN401 - matplotlib's
        """Make a grid of axes.

        Args:
            rows: Number of rows.
            columns: Number of columns.
            **options: Further options of matplotlib's ``Figure.subplots``.

        Returns:
            The axes, row by row.
        """
        return list(self.figure.subplots(rows, columns, squeeze=False, **options).flat)


@contextmanager
def drawing(name: str, width: float = 7.2, height: float = 2.6) -> Iterator[Drawing]:
    """Draw a figure with matplotlib, for a page.

    Args:
        name: Name of the picture; no two on a page may have the same.
        width: Width in inches; 7.2 is the width of the page.
        height: Height in inches.

    Yields:
        The figure to draw into; its ``svg`` is filled at the end of the ``with`` block.

    Example:
        >>> with drawing("example", 2, 1) as picture:
        ...     bars = picture.axes()[0].bar(["<b>", "$x$"], [1, 2], color=FIRST)
        >>> "&lt;b&gt;" in picture.svg, "$x$" in picture.svg, "var(--first)" in picture.svg, "<b>" in picture.svg
        (True, True, True, False)
    """
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise InputError("a report is drawn by matplotlib, which is not here; pip install 'anchored[app]'") from None
    with mpl.rc_context({**_STYLE, "svg.hashsalt": name}), warnings.catch_warnings():
        # Letters that matplotlib's own font lacks are measured a little wrong, and shown right by the browser.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        warnings.filterwarnings("ignore", message=".*layout not applied")
        figure = Figure(figsize=(width, height), dpi=72, layout="constrained")
        canvas = FigureCanvasSVG(figure)
        picture = Drawing(figure)
        yield picture
        # What savefig does, without its second pass through every artist: that takes as long as the drawing itself.
        engine = figure.get_layout_engine()
        assert engine is not None, "asked for above"
        engine.execute(figure)
        figure.set_layout_engine("none")
        written = io.StringIO()
        canvas.print_svg(  # type: ignore[no-untyped-call]  # matplotlib has no type for it
            written, metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
        )
    picture.svg = _for_the_page(written.getvalue(), width)


def _for_the_page(svg: str, width: float) -> Markup:
    """Take out what belongs to a file of its own; only tags are changed, never text."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>", "", svg, flags=re.DOTALL)
    opening, rest = svg.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', opening)
    assert box is not None, "matplotlib writes one"
    rest = re.sub(r"<[^>]*>", lambda tag: _tag(tag[0]), rest)
    # Fixed to the page's own scale, 120 pixels for an inch, and never wider than the page.
    return Markup(f'<svg {box[0]} style="width: {120 * width:.0f}px" aria-hidden="true">{rest}')


def _tag(tag: str) -> str:
    tag = re.sub(r'^<g id="[^"]*"', "<g", tag).replace("xlink:href", "href")
    for colour, variable in COLOURS.items():
        tag = tag.replace(colour, variable)
    return re.sub(r"\s*\n\s*", " ", re.sub(r"(\d\.\d{3})\d+", r"\1", tag))

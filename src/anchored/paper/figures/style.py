"""How every figure looks: one typeface, thin grey axes, colours that colour-blind readers can tell apart.

An ordered quantity (a scale, a weight decay) runs from dark to light along one ramp that also orders itself in grey;
ten classes have ten fixed colours and their digits beside them, since no ten colours are safe alone. Files carry no
date and no random ids, so that the same runs give the same bytes.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anchored._errors import InputError
from anchored._files import write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

__all__ = [
    "ACCENT",
    "BLUE",
    "CLASSES",
    "INK",
    "MUTED",
    "SAND",
    "apart",
    "check_out",
    "end_labels",
    "ramp",
    "readable_on",
    "save",
    "styled",
    "subplots",
]

INK, MUTED = "#222222", "#6b6b6b"
BLUE, ACCENT, SAND = "#4477aa", "#c8553d", "#ddcc77"
CLASSES = (
    *("#332288", "#88ccee", "#44aa99", "#117733", "#999933"),
    *("#ddcc77", "#cc6677", "#882255", "#aa4499", "#777777"),
)
"""One colour per class: Paul Tol's muted set, and grey."""

_LETTERS = 17
"""Letters of the caption per inch."""
_FORMATS = (".svg", ".png", ".pdf")
_STYLE: Any = {  # the names are matplotlib's, and so long a type that it says nothing
    "svg.fonttype": "path",
    "svg.hashsalt": "anchored",
    "font.family": ["DejaVu Sans"],
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.labelsize": 8,
    "axes.edgecolor": "#b5b5b5",
    "axes.labelcolor": MUTED,
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.linewidth": 0.8,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.6,
    "text.color": INK,
    "xtick.color": "#b5b5b5",
    "ytick.color": "#b5b5b5",
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "lines.linewidth": 1.5,
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    "savefig.dpi": 100,
}


@contextmanager
def styled() -> Iterator[None]:
    """Context in which pictures are drawn in this style; matplotlib's settings are restored afterwards."""
    import matplotlib as mpl

    with mpl.rc_context(_STYLE):
        yield


def subplots(rows: int, columns: int, *, size: tuple[float, float], **options: Any) -> tuple[Picture, list[Axes]]:  # noqa: ANN401 - matplotlib's
    """Make a picture and its panels; no window is ever opened.

    Args:
        rows: Rows of panels.
        columns: Columns of panels.
        size: Width and height of a panel in inches.
        options: Further options of matplotlib's ``subplots``.

    Returns:
        The picture, and its panels row by row.

    Example:
        >>> picture, panels = subplots(1, 2, size=(3, 2))
        >>> len(panels), picture.get_size_inches().tolist()
        (2, [6.0, 2.0])
    """
    from matplotlib.figure import Figure as Picture

    picture = Picture(figsize=(size[0] * columns, size[1] * rows), layout="constrained")
    panels = picture.subplots(rows, columns, squeeze=False, **options)
    return picture, list(panels.flat)


def ramp(n: int) -> list[str]:
    """Return ``n`` colours for an ordered quantity, dark to light.

    Example:
        >>> ramp(2)
        ['#00224e', '#c8b866']
    """
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    # The lightest part of the map is lost on white paper.
    return [to_hex(colormaps["cividis"](0.8 * i / max(1, n - 1))) for i in range(n)]


def readable_on(colour: str) -> str:
    """Return a colour for text on ``colour``: white on dark ones, black on light ones.

    Example:
        >>> readable_on("#332288"), readable_on("#ddcc77")
        ('white', 'black')
    """
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(colour)
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.6 else "white"


def end_labels(axes: Axes, ends: Sequence[tuple[float, str, str]]) -> None:
    """Write the name of each line at its end, in its colour; names that would overlap are moved apart.

    Args:
        axes: The panel of the lines, with its final limits.
        ends: Height, name and colour of each line's end.

    Example:
        >>> _, (axes,) = subplots(1, 1, size=(3, 2))
        >>> end_labels(axes, [(0.5, "CE", INK), (0.5, "PAL", BLUE)])
        >>> [text.get_text() for text in axes.texts]
        ['CE', 'PAL']
    """
    ordered = sorted(ends)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high)
    places = apart([height for height, _, _ in ordered], (high - low) / 16)
    for place, (_, name, colour) in zip(places, ordered, strict=True):
        axes.annotate(
            name,
            (1, place),
            xycoords=("axes fraction", "data"),
            xytext=(4, 0),
            textcoords="offset points",
            color=colour,
            fontsize=7.5,
            va="center",
            annotation_clip=False,
        )


def apart(heights: Sequence[float], least: float) -> list[float]:
    """Move heights apart: neighbours that are too close spread around their common middle.

    Args:
        heights: Heights in ascending order.
        least: Smallest distance between neighbours.

    Returns:
        The moved heights, in ascending order.

    Example:
        >>> apart([0.0, 5.0, 5.5, 9.0], 1.0)
        [0.0, 4.75, 5.75, 9.0]
    """
    crowds: list[list[float]] = []
    for height in heights:
        crowds.append([height])
        while len(crowds) > 1 and _spread(crowds[-1], least)[0] - _spread(crowds[-2], least)[-1] < least:
            crowds[-2:] = [crowds[-2] + crowds[-1]]
    return [place for crowd in crowds for place in _spread(crowd, least)]


def _spread(crowd: Sequence[float], least: float) -> list[float]:
    middle = sum(crowd) / len(crowd)
    return [middle + least * (i - (len(crowd) - 1) / 2) for i in range(len(crowd))]


def check_out(out: Path) -> Path:
    """Return ``out`` if a picture can be written there.

    Raises:
        InputError: If it has no ending of a picture, or its folder does not exist.
    """
    if out.suffix.lower() not in _FORMATS:
        raise InputError(f"a picture must end in {', '.join(_FORMATS)}, got {out.name!r}; choose another --out")
    if not out.parent.is_dir():
        raise InputError(f"cannot write {out}: the folder {out.parent} does not exist; create it first")
    return out


def save(picture: Picture, out: Path, *, caption: str) -> Path:
    """Write ``picture`` with a caption under it.

    Args:
        picture: What was drawn.
        out: The file: SVG, PNG or PDF.
        caption: A small line under the picture.

    Returns:
        The file, ``out``.

    Example:
        >>> import tempfile
        >>> picture, _ = subplots(1, 1, size=(3, 2))
        >>> save(picture, Path(tempfile.mkdtemp()) / "empty.svg", caption="Nothing.").stat().st_size > 1000
        True
    """
    kind = out.suffix.lower().removeprefix(".")
    wide = int(picture.get_size_inches()[0] * _LETTERS)
    picture.supxlabel(textwrap.fill(caption, wide), x=0.01, ha="left", fontsize=7, color=MUTED)
    nothing = {"svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}[kind]
    write_atomically(out, lambda path: picture.savefig(path, format=kind, metadata=nothing))
    return out

"""Lines over the epochs, several panels side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from anchored.report._svg import FIRST, FOURTH, INK, MUTED, SECOND, THIRD, drawing

__all__ = ["Line", "curves"]

_COLOURS = {"training": MUTED, "held-out": SECOND, "test": FIRST}
_STYLES = {"training": (0, (1, 1)), "held-out": (0, (5, 2)), "test": "solid"}


@dataclass(frozen=True)
class Line:
    """Values by epoch; None for an epoch without a value."""

    name: str
    epochs: Sequence[int]
    values: Sequence[float | None]


def curves(
    name: str,
    panels: Sequence[tuple[str, Sequence[Line]]],
    *,
    percent: Sequence[bool],
    marks: Sequence[tuple[int, str]] = (),
) -> Markup:
    """Draw lines over the epochs, one panel per title.

    Args:
        name: Name of the picture; no two on a page may have the same.
        panels: Title and lines of each panel.
        percent: For each panel, whether its values are shares, to be shown in percent.
        marks: Epochs to point out, each with a word.

    Returns:
        The picture as inline SVG.

    Example:
        >>> svg = curves("c", [("Loss", [Line("training", [1, 2], [2.0, 1.0])])], percent=[False])
        >>> "training" in svg and "Loss" in svg
        True
    """
    from matplotlib.ticker import MaxNLocator

    others = iter((THIRD, FOURTH) * 8)
    with drawing(name, 7.2, 2.5) as picture:
        for axes, (title, lines), shares in zip(picture.axes(1, len(panels)), panels, percent, strict=True):
            for line in lines:
                given = [(e, v) for e, v in zip(line.epochs, line.values, strict=True) if v is not None]
                axes.plot(
                    [e for e, _ in given],
                    [100 * v if shares else v for _, v in given],
                    color=_COLOURS.get(line.name) or next(others),
                    linestyle=_STYLES.get(line.name, "solid"),
                    label=line.name,
                    marker="o" if len(given) == 1 else None,
                    markersize=4,
                )
            for epoch, said in marks:
                axes.axvline(epoch, color=INK, linewidth=0.8, linestyle=(0, (2, 2)))
                axes.annotate(
                    said, (epoch, 0), xycoords=("data", "axes fraction"), xytext=(3, 4), textcoords="offset points",
                    fontsize=7, color=INK, rotation=90,
                )  # fmt: skip
            axes.set(title=title, xlabel="epoch")
            axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
            if shares:
                axes.yaxis.set_major_formatter(_as_percent)
            axes.legend(loc="best", handlelength=2.4)
    return picture.svg


def _as_percent(value: float, _place: float) -> str:
    return f"{value:g} %"

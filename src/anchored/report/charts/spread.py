"""How a quantity is spread: a histogram over all samples, or class by class where eight in ten of them lie."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup
from torch import Tensor

from anchored.report._svg import FIRST, INK, MUTED, SECOND, drawing
from anchored.report._words import name as shown

__all__ = ["histogram", "spreads"]

_LONGEST = 26


def histogram(
    name: str, right: Tensor, wrong: Tensor, *, label: str, mark: float | None = None, mark_text: str = ""
) -> Markup:
    """Draw a histogram, with mistaken samples in the second colour on top of the others.

    Args:
        name: Name of the picture; no two on a page may have the same.
        right: Values of samples that the model judged rightly.
        wrong: Values of samples that it mistook.
        label: Label of the axis.
        mark: Value at which a vertical line is drawn, or None.
        mark_text: Text at that line.

    Returns:
        The picture as inline SVG.

    Example:
        >>> import torch
        >>> "degrees" in histogram("h", torch.tensor([1.0, 2.0]), torch.tensor([9.0]), label="degrees")
        True
    """
    with drawing(name, 3.55, 2.3) as picture:
        (axes,) = picture.axes()
        parts = [each.double().tolist() for each in (right, wrong)]
        everything = parts[0] + parts[1]
        low, high = min(everything), max(everything)
        bins = (low - 0.5, high + 0.5) if high - low <= 1e-9 * max(1.0, abs(high)) else (low, high)
        axes.hist(parts, bins=30, range=bins, stacked=True, color=[FIRST, SECOND], label=["right", "mistaken"])
        axes.set(xlabel=label, ylabel="samples")
        if mark is not None:
            axes.axvline(mark, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
            axes.annotate(
                mark_text, (mark, 1), xycoords=("data", "axes fraction"), xytext=(0, 2), textcoords="offset points",
                ha="center", va="bottom", fontsize=7.5, color=INK,
            )  # fmt: skip
        axes.legend(loc="best", handlelength=1)
        axes.grid(visible=False, axis="x")
    return picture.svg


def spreads(name: str, names: Sequence[str], values: Sequence[Tensor], *, label: str) -> Markup:
    """Draw one line per class: the middle eight tenths as a bar, the median as a dot; zero is marked.

    Args:
        name: Name of the picture; no two on a page may have the same.
        names: Names of the classes, from top to bottom.
        values: Values of the samples of each class, at least one each.
        label: Label of the axis.

    Returns:
        The picture as inline SVG.

    Example:
        >>> import torch
        >>> "0.20" in spreads("s", ["cat"], [torch.tensor([0.1, 0.2, 0.3])], label="margin")
        True
    """
    with drawing(name, 7.2, 0.55 + 0.21 * len(names)) as picture:
        (axes,) = picture.axes()
        for place, each in enumerate(values):
            low, middle, high = (float(each.double().quantile(q)) for q in (0.1, 0.5, 0.9))
            axes.plot((low, high), (place, place), color=FIRST, linewidth=5, alpha=0.35, solid_capstyle="round")
            axes.plot(middle, place, "o", color=FIRST, markersize=4.5)
            axes.annotate(
                f"{middle:.2f}", (1.0, place), xycoords=("axes fraction", "data"), xytext=(6, 0),
                textcoords="offset points", va="center", color=MUTED, fontsize=7.5,
            )  # fmt: skip
        axes.axvline(0, color=SECOND, linewidth=1.2)
        axes.set_yticks(range(len(names)), [shown(each, _LONGEST) for each in names])
        axes.tick_params(axis="y", labelcolor=INK)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
        axes.spines["left"].set_visible(False)
        axes.set_xlabel(label)
    return picture.svg

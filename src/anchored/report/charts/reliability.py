"""The reliability diagram: how often the model is right, against how sure it said it was."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from anchored.metrics import Reliability
from anchored.report._svg import FIRST, INK, MUTED, SECOND, THIRD, drawing

__all__ = ["reliability_diagram"]


def reliability_diagram(name: str, panels: Sequence[tuple[str, Reliability]]) -> Markup:
    """Draw reliability tables side by side; below each, how many samples there are at each confidence.

    Args:
        name: Name of the picture; no two on a page may have the same.
        panels: Title and table of each panel.

    Returns:
        The picture as inline SVG.

    Example:
        >>> import torch
        >>> from anchored.metrics import reliability
        >>> table = reliability(torch.tensor([[0.9, 0.1], [0.2, 0.8]]), torch.tensor([0, 1]))
        >>> "After: off by 15.0 points" in reliability_diagram("r", [("After", table)])
        True
    """
    from matplotlib.patches import Patch

    parts = ((FIRST, "right, as it said"), (SECOND, "said, but not right"), (THIRD, "right, beyond what it said"))
    with drawing(name, 7.2, 3.6) as picture:
        axes = picture.axes(2, len(panels), sharex=True, height_ratios=(4, 1))
        for (title, table), above, below in zip(panels, axes[: len(panels)], axes[len(panels) :], strict=True):
            width = 1 / len(table.bins)
            total = sum(each.count for each in table.bins)
            for each in table.bins:
                if each.accuracy is None or each.confidence is None:
                    continue
                middle = (each.low + each.high) / 2
                low, high = sorted((each.accuracy, each.confidence))
                kept = each.accuracy >= each.confidence
                above.bar(middle, low, width=0.9 * width, color=FIRST)
                above.bar(middle, high - low, bottom=low, width=0.9 * width, color=THIRD if kept else SECOND)
                below.bar(middle, each.count / total, width=0.9 * width, color=MUTED)
            above.plot((0, 1), (0, 1), color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
            above.set(xlim=(0, 1), ylim=(0, 1), title=f"{title}: off by {100 * table.ece:.1f} points")
            below.set(ylim=(0, None), xlabel="how sure the model says it is")
            for panel in (above, below):
                panel.xaxis.set_major_formatter(_as_percent)
                panel.yaxis.set_major_formatter(_as_percent)
        handles = [Patch(color=colour, label=text) for colour, text in parts]
        picture.figure.legend(handles=handles, loc="outside upper left", ncols=len(handles))
        axes[0].set_ylabel("how often it is right")
        axes[len(panels)].set_ylabel("samples")
    return picture.svg


def _as_percent(value: float, _place: float) -> str:
    return f"{100 * value:.0f} %"

"""Reliability diagrams by weight decay: a larger one makes long-tailed classifiers more right and less sure.

Claim
    Networks that are trained on long tails are too sure of themselves. Weight decay bounds prototypes and features, and
    with them the logits: from 0 to 1e-3 accuracy rises and the gap between confidence and accuracy closes, for cross
    entropy, with deferred weights (DRW) and for Balanced Softmax alike.

Command
    ``anchored paper figure reliability --data-root DATA``; in minutes, on MNIST: ``--quick``.

Setting
    ResNet-32 on CIFAR-100-LT with ratio 100: twelve runs of the table ``weight_decay``, shared with it, so that
    ``anchored paper run weight_decay`` can make them on any engine. Probabilities are the softmax of the logits as they
    are after the last epoch, without a temperature; 15 bins, the whole test set.

Cost
    Twelve runs of 200 epochs: 6 to 8 hours each on one core, 36 to 48 hours on two cores; on one GPU, an estimate, 20
    minutes each, 4 hours. Quick: a minute and a half.

Expected
    From left to right (0, 5e-5, 5e-4, 1e-3) the red above the blue shrinks. Published accuracy, of the best epoch and
    so a little above that of the panels: CE 37.36, 37.31, 40.49 and 40.78; CE+DRW 38.16, 38.88, 43.19 and 46.18;
    Balanced Softmax 38.27, 39.31, 45.19 and 47.21. The errors are in the paper's pictures only; its text says that
    CE+DRW has a smaller one at 1e-3 than at 5e-5. Quick (0, 1e-3, 1e-2, 3e-2): errors of 7.8, 4.8, 2.4 and 7.3 % for
    CE, 7.3, 3.8, 1.9 and 10.3 % for CE+DRW, 4.6, 0.9, 11.0 and 16.1 % for Balanced Softmax.

References:
    Zhou et al., 2022. Prototype-Anchored Learning for Learning with Imperfect Annotations. ICML.
    Guo et al., 2017. On Calibration of Modern Neural Networks. ICML.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anchored import metrics
from anchored.metrics import Bin, Reliability
from anchored.paper.figures._decays import decays_table, quick_decays_table
from anchored.paper.figures.figure import Figure
from anchored.paper.figures.runs import Runs
from anchored.paper.figures.style import ACCENT, BLUE, MUTED, SAND, subplots
from anchored.paper.tables._longtailed import longtailed_row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

__all__ = ["FIGURE", "Diagram", "draw", "read"]

_METHODS = ("ce", "ce+drw", "balanced-softmax")
_CLAIM = "A larger weight decay makes long-tailed classifiers more accurate and less overconfident."


@dataclass(frozen=True)
class Diagram:
    """One panel: a method at one weight decay, its accuracy and its reliability."""

    method: str
    weight_decay: str
    accuracy: float
    table: Reliability


def read(runs: Runs) -> list[Diagram]:
    """Read the panels, method by method."""
    diagrams: list[Diagram] = []
    for method in dict.fromkeys(job.row for job in runs.jobs):
        for decay in dict.fromkeys(job.cell for job in runs.jobs):
            seen = runs.test_outputs(runs.job(method, decay))
            diagrams.append(
                Diagram(
                    method=method,
                    weight_decay=decay,
                    accuracy=metrics.accuracy(seen.logits, seen.labels),
                    table=metrics.reliability(seen.logits.double().softmax(dim=1), seen.labels),
                )
            )
    return diagrams


def draw(diagrams: Sequence[Diagram]) -> Picture:
    """Draw a row of panels per method: confidence above accuracy is red, accuracy above confidence is sand."""
    from matplotlib.patches import Patch

    methods = list(dict.fromkeys(diagram.method for diagram in diagrams))
    columns = len(diagrams) // len(methods)
    picture, panels = subplots(len(methods), columns, size=(1.85, 1.8), sharex=True, sharey=True)
    for number, (axes, diagram) in enumerate(zip(panels, diagrams, strict=True)):
        _panel(axes, diagram)
        said = f"acc. {100 * diagram.accuracy:.1f} %, ECE {100 * diagram.table.ece:.1f} %"
        axes.set_title(f"weight decay {diagram.weight_decay}\n{said}" if number < columns else said, fontsize=7.5)
    for row, method in enumerate(methods):
        panels[row * columns].set_ylabel(f"{longtailed_row(method).title}\naccuracy")
    for axes in panels[-columns:]:
        axes.set_xlabel("confidence")
    marks = [
        Patch(facecolor=BLUE, label="accuracy, as far as claimed"),
        Patch(facecolor=ACCENT, label="too sure"),
        Patch(facecolor=SAND, label="not sure enough"),
    ]
    picture.legend(handles=marks, loc="outside upper left", ncols=3)
    return picture


def _panel(axes: Axes, diagram: Diagram) -> None:
    _boxes(axes, BLUE, [(each, 0.0, min(*levels)) for each, levels in _levels(diagram)])
    _boxes(axes, ACCENT, [(each, *levels) for each, levels in _levels(diagram) if levels[0] < levels[1]])
    _boxes(axes, SAND, [(each, *levels) for each, levels in _levels(diagram) if levels[0] > levels[1]])
    axes.plot([0, 1], [0, 1], color=MUTED, linewidth=0.8, linestyle=(0, (3, 2)))
    axes.set(xlim=(0, 1), ylim=(0, 1), xticks=[0, 0.5, 1], yticks=[0, 0.5, 1], aspect="equal")


def _levels(diagram: Diagram) -> list[tuple[Bin, tuple[float, float]]]:
    """Accuracy and confidence of each bin that has samples."""
    return [
        (each, (each.accuracy, each.confidence))
        for each in diagram.table.bins
        if each.accuracy is not None and each.confidence is not None
    ]


def _boxes(axes: Axes, colour: str, boxes: Sequence[tuple[Bin, float, float]]) -> None:
    """A box over each bin from one height to another, all in one path: a patch each would double the file."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    if boxes:
        gap = 0.03
        corners = [
            [(left, low), (left, high), (right, high), (right, low)]
            for each, low, high in boxes
            for left, right in [(each.low + gap * (each.high - each.low), each.high - gap * (each.high - each.low))]
        ]
        path = Path.make_compound_path_from_polys(np.array(corners))
        axes.add_patch(PathPatch(path, facecolor=colour, linewidth=0))


FIGURE: Figure[Sequence[Diagram]] = Figure(
    name="reliability",
    claim=_CLAIM,
    cost="Twelve runs of 6 to 8 hours on one core; 20 minutes each on one GPU, an estimate. Quick: 90 seconds.",
    table=decays_table("reliability", *_METHODS),
    quick=quick_decays_table("reliability", *_METHODS),
    read=read,
    draw=draw,
)

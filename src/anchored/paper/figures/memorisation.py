"""Accuracy over epochs with four labels in five wrong: what is learnt first, and what is lost again. Ours.

Claim
    The published numbers are those after the last epoch, and most of what separates the methods is how much of an early
    best epoch they have lost by then. Every loss is above 80 % at some epoch, alone or anchored. Trained prototypes
    lose much of it again; on anchored ones, with normalised features and a small scale, less is lost, and later. The
    exception is NCE+RCE, whose scale is 10: it loses more on anchors.

Command
    ``anchored paper figure memorisation``; it draws the records in ``results/`` and trains only what is not there. In
    minutes, on a part of MNIST: ``--quick --data-root DATA``.

Setting
    MNIST with symmetric noise of 0.8, the recipe and the runs of the table ``noise_symmetric``. The negative-signed
    sample logit has anchors by its definition.

Cost
    Nothing if all is recorded. Else thirteen runs, each 22 minutes on a free core (22 to 35 in the records, which
    had other work beside): two and a half hours on two cores; on one GPU, an estimate, five minutes each, an hour.
    Quick: 3 minutes.

Expected
    From the records, seed 0, best epoch and last. Trained prototypes: CE 81.7 and 23.1, GCE 84.5 and 36.3, SCE 87.7 and
    47.8, NCE+RCE 86.9 and 69.9, all at their best by epoch 11. Randomly turned anchors: CE 88.3 and 79.6, GCE 88.2 and
    87.9, SCE 89.2 and 83.5, NCE+RCE 94.6 and 62.3, NSL 88.4 and 63.3. Aligned: CE 91.6 and 82.6, GCE 92.4 and 92.0, SCE
    93.4 and 88.0, NCE+RCE 92.3 and 71.8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from anchored.paper.figures.figure import Figure
from anchored.paper.figures.runs import Runs
from anchored.paper.figures.style import ACCENT, BLUE, INK, end_labels, subplots
from anchored.paper.table import Cell, Table
from anchored.paper.tables import noise_symmetric
from anchored.paper.tables._noisy import noisy_settings
from anchored.paper.tables._small import small_noise

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

__all__ = ["FIGURE", "PANELS", "Numbers", "draw", "read"]

_CLAIM = "Under heavy noise every loss is good at some epoch; anchors keep more of it, but for NCE+RCE."

PANELS: Mapping[str, Sequence[str]] = {
    "trained prototypes": ("ce", "gce", "sce", "nce+rce"),
    "anchored, randomly turned": ("ce+fnpal", "gce+fnpal", "sce+fnpal", "nce+rce+fnpal", "nsl"),
    "anchored, aligned (ours)": tuple(f"{loss}+fnpal (aligned)" for loss in ("ce", "gce", "sce", "nce+rce")),
}
"""The rows of each panel."""

_COLOURS = {"CE": ACCENT, "GCE": BLUE, "SCE": "#228833", "NCE+RCE": "#aa7700", "NSL": INK}

Numbers = Mapping[str, Mapping[str, Sequence[float]]]
"""Test accuracy after each epoch, by panel and loss."""


def _table(name: str, cell: Cell) -> Table:
    return Table(
        name=name,
        title="Test accuracy over epochs",
        claim=_CLAIM,
        rows=tuple(noise_symmetric.TABLE.row(row) for rows in PANELS.values() for row in rows),
        cells=(cell,),
        build=noisy_settings,
    )


def read(runs: Runs) -> Numbers:
    """Read the curves of the figure."""
    (cell,) = {job.cell for job in runs.jobs}
    return {panel: {_loss(row): runs.accuracies(runs.job(row, cell)) for row in rows} for panel, rows in PANELS.items()}


def draw(numbers: Numbers) -> Picture:
    """Draw one panel per kind of prototypes, one colour per loss, a dot at the best epoch."""
    picture, panels = subplots(1, len(numbers), size=(2.9, 2.8), sharey=True)
    for axes, (title, curves) in zip(panels, numbers.items(), strict=True):
        for loss, curve in curves.items():
            best = max(range(len(curve)), key=curve.__getitem__)
            axes.plot(range(1, len(curve) + 1), [100 * each for each in curve], color=_COLOURS[loss])
            axes.plot([best + 1], [100 * curve[best]], "o", color=_COLOURS[loss], markersize=3.5)
        axes.set_title(title)
        axes.set_xlabel("epoch")
        axes.set_xlim(1, len(curve))
        axes.grid(axis="y")
    # Not before all panels are full: names settle the limits, which the panels share.
    for axes, curves in zip(panels, numbers.values(), strict=True):
        end_labels(axes, [(100 * curve[-1], loss, _COLOURS[loss]) for loss, curve in curves.items()])
    panels[0].set_ylabel("test accuracy (%)")
    return picture


def _loss(row: str) -> str:
    """The loss of a row, as it is written at a curve."""
    return row.split(" (", maxsplit=1)[0].removesuffix("+fnpal").upper()


FIGURE = Figure(
    name="memorisation",
    claim=_CLAIM,
    cost="None if all is recorded, else 13 runs of 22 minutes on one core, 5 on one GPU, an estimate. Quick: 3.",
    read=read,
    draw=draw,
    table=_table("memorisation", noise_symmetric.TABLE.cell("mnist/0.8")),
    quick=_table("memorisation (quick)", small_noise(0.8)),
    from_records=True,
)

"""Accuracy over epochs with four labels in five wrong: what is learnt first, and what is lost again. Ours.

Claim
    The published numbers are those after the last epoch, and most of what separates the methods is how much of an early
    best epoch they have lost by then. Every loss is above 80 % at some epoch, alone or anchored. Trained prototypes
    lose most of it again; on anchored ones, with normalised features and a small scale, less is lost, and later.

Command
    ``anchored paper figure memorisation``; it draws the records in ``results/`` and trains only what is not there. In
    minutes, on a part of MNIST: ``--quick --data-root DATA``.

Setting
    MNIST with symmetric noise of 0.8, the recipe and the runs of the table ``noise_symmetric``. The negative-signed
    sample logit has anchors by its definition.

Cost
    Thirteen runs of 22 minutes of one core where none is recorded; on one GPU, an estimate, five minutes each. Quick: 3
    minutes.
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

_CLAIM = "Under heavy noise every loss is good at some epoch; anchors keep more of it to the last."

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
    """The curves of the figure."""
    (cell,) = {job.cell for job in runs.jobs}
    return {panel: {_loss(row): runs.accuracies(runs.job(row, cell)) for row in rows} for panel, rows in PANELS.items()}


def draw(numbers: Numbers) -> Picture:
    """One panel per kind of prototypes, one colour per loss, a dot at the best epoch."""
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
    cost="Thirteen MNIST runs, none where they are recorded; quick: 3 minutes.",
    read=read,
    draw=draw,
    table=_table("memorisation", noise_symmetric.TABLE.cell("mnist/0.8")),
    quick=_table("memorisation (quick)", small_noise(0.8)),
    from_records=True,
)

"""Anchored against trained prototypes, both normalised: trained ones move together under noise.

Claim
    What helps is the anchoring, not the normalisation alone. With features and prototypes normalised and the same scale
    s, prototypes that are trained (FNPN) come closer to each other than the 96.4 degrees at which ten anchors (FNPAL)
    stay, and accuracy suffers.

Command
    ``anchored paper figure fnpal_fnpn --data-root DATA``; in minutes, on MNIST: ``--quick``.

Setting
    CIFAR-10 with the 8-layer CNN, 120 epochs, symmetric noise of 0.6. The anchored runs are those of the figure
    ``scale``. Angles are noted after every epoch while the runs go on.

Cost
    Eight runs of 120 epochs, four of them shared with ``scale``: 17 hours each on one core, 68 hours on two cores; on
    one GPU, an estimate, half an hour each, 4 hours. Quick: 2 minutes.

Expected
    In (a) the solid curve of each scale above the dashed one, always, as the paper's text says; in (b) dashed curves
    far below the line at 96.4 degrees. Quick, at the end, anchored against trained, s = 0.2, 1, 5 and 20: 84.9 against
    85.6 %, 61.1 against 51.7, 44.2 against 41.9, 44.8 against 44.2, with trained angles of 54.4, 90.3, 93.8 and 89.5
    degrees. So anchoring helps there at all scales but the smallest, the only one whose trained prototypes end far
    closer together.

References:
    Zhou et al., 2022. Prototype-Anchored Learning for Learning with Imperfect Annotations. ICML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anchored import metrics
from anchored.paper.figures.angles import AngleWatch, read_angles
from anchored.paper.figures.figure import Figure
from anchored.paper.figures.runs import Runs
from anchored.paper.figures.scale import SCALES, fnpal_row
from anchored.paper.figures.style import INK, MUTED, end_labels, ramp, subplots
from anchored.paper.table import Row, Table
from anchored.paper.tables._noisy import noisy_cell, noisy_settings
from anchored.paper.tables._small import small_noise

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

__all__ = ["FIGURE", "Numbers", "draw", "fnpn_row", "read"]

_ETA = 0.6
_CLAIM = "Trained prototypes, though normalised, come closer to each other under noise, and accuracy suffers."


def fnpn_row(scale: float) -> Row:
    """Make the row of cross entropy on a trained, normalised head of this scale."""
    return Row(name=f"ce+fnpn (s={scale:g})", method="ce+fnpn", settings={"method": {"scale": scale}}, ours=True)


_ROWS = tuple(row(scale) for scale in SCALES for row in (fnpal_row, fnpn_row))
_TABLE = Table(
    name="fnpal_fnpn",
    title="Test accuracy and smallest angle over epochs",
    claim=_CLAIM,
    rows=_ROWS,
    cells=(noisy_cell("cifar10", _ETA, f"symmetric={_ETA}:apl"),),
    build=noisy_settings,
)
_QUICK = Table(
    name="fnpal_fnpn (quick)",
    title=_TABLE.title,
    claim=_CLAIM,
    rows=_ROWS,
    cells=(small_noise(_ETA),),
    build=noisy_settings,
)


@dataclass(frozen=True)
class Numbers:
    """Curves over the epochs by scale, and the angle of the anchors, which has no curve."""

    fnpal: Mapping[float, Sequence[float]]
    """Test accuracy with anchored prototypes."""
    fnpn: Mapping[float, Sequence[float]]
    """Test accuracy with trained ones."""
    angles: Mapping[float, Sequence[float]]
    """Smallest angle between trained ones, in degrees."""
    anchored_angle: float
    """Smallest angle between anchored ones, in degrees."""


def read(runs: Runs) -> Numbers:
    """Read the curves of the figure."""
    cell = runs.jobs[0].cell
    anchored = {s: runs.job(fnpal_row(s).name, cell) for s in SCALES}
    trained = {s: runs.job(fnpn_row(s).name, cell) for s in SCALES}
    rows = runs.network(anchored[SCALES[0]]).rows()
    assert rows is not None, "an anchored head has prototypes"
    return Numbers(
        fnpal={s: runs.accuracies(job) for s, job in anchored.items()},
        fnpn={s: runs.accuracies(job) for s, job in trained.items()},
        angles={s: read_angles(runs.folder(job), epochs=job.epochs) for s, job in trained.items()},
        anchored_angle=metrics.minimal_angle(rows),
    )


def draw(numbers: Numbers) -> Picture:
    """Draw accuracy left, angles right; anchored solid, trained dashed, the scales from dark to light."""
    from matplotlib.lines import Line2D

    picture, (accuracy, angle) = subplots(1, 2, size=(3.7, 2.9))
    dashed = (0.0, (3.0, 1.6))
    last = len(next(iter(numbers.fnpal.values())))
    epochs = range(1, last + 1)
    ends: list[tuple[float, str, str]] = []
    for s, colour in zip(numbers.fnpal, ramp(len(numbers.fnpal)), strict=True):
        accuracy.plot(epochs, [100 * each for each in numbers.fnpal[s]], color=colour)
        accuracy.plot(epochs, [100 * each for each in numbers.fnpn[s]], color=colour, linestyle=dashed)
        angle.plot(epochs, numbers.angles[s], color=colour, linestyle=dashed)
        ends.append((numbers.angles[s][-1], f"s = {s:g}", colour))
    angle.axhline(numbers.anchored_angle, color=INK)
    ends.append((numbers.anchored_angle, "anchored", INK))
    for axes in (accuracy, angle):
        axes.set_xlabel("epoch")
        axes.set_xlim(1, last)
        axes.grid(axis="y")
    accuracy.set_title("(a) test accuracy (%)")
    angle.set_title("(b) smallest angle between prototypes (°)")
    end_labels(angle, ends)
    lines = [
        Line2D([], [], color=MUTED, label="FNPAL: anchored"),
        Line2D([], [], color=MUTED, label="FNPN: trained", linestyle=dashed),
        *(
            Line2D([], [], color=colour, label=f"s = {s:g}")
            for s, colour in zip(numbers.fnpal, ramp(len(numbers.fnpal)), strict=True)
        ),
    ]
    picture.legend(handles=lines, loc="outside upper left", ncols=len(lines), columnspacing=1.4, handlelength=1.8)
    return picture


FIGURE: Figure[Numbers] = Figure(
    name="fnpal_fnpn",
    claim=_CLAIM,
    cost="Eight runs of 17 hours on one core; half an hour each on one GPU, an estimate. Quick: 2 minutes.",
    table=_TABLE,
    quick=_QUICK,
    read=read,
    draw=draw,
    watch=AngleWatch,
)

"""The scale of anchored, normalised heads: small ones withstand noise, large ones fit it.

Claim
    Under symmetric noise plain cross entropy is at its best after some epochs and then learns the wrong labels. On a
    normalised, anchored head the logits lie in [-s, s], which bounds what a wrong label can do: the smaller s, the less
    accuracy is lost again, until s is so small that fitting suffers. s trades fit for robustness.

Command
    ``anchored paper figure scale --data-root DATA``; in minutes, on MNIST: ``--quick``.

Setting
    CIFAR-10 with the 8-layer CNN, 120 epochs, symmetric noise of 0.6 and 0.8, randomly turned anchors, as in the table
    ``noise_symmetric``, whose cross entropy runs are shared. The paper's own values of s are not in its text; 0.2 to 20
    in steps of about five span the change.

Cost
    Ten runs of 120 epochs: 17 hours each on one core, 85 hours on two cores; on one GPU, an estimate, half an hour
    each, 5 hours. Quick: 2 minutes.

Expected
    Cross entropy falls after about epoch 20, to the published 38.21 at 0.6 and 18.89 at 0.8. Small scales hold what
    they have: the paper's own (0.38 and 0.29) end at 72.77 and 51.46. Quick, after the last epoch, s = 0.2, 1, 5, 20
    and cross entropy: 84.9, 61.1, 44.2, 44.8 and 45.0 % at 0.6; 48.0, 24.6, 21.7, 20.8 and 20.8 % at 0.8.

References:
    Zhou et al., 2022. Prototype-Anchored Learning for Learning with Imperfect Annotations. ICML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anchored.paper.figures.figure import Figure
from anchored.paper.figures.runs import Runs
from anchored.paper.figures.style import ACCENT, end_labels, ramp, subplots
from anchored.paper.table import Row, Table
from anchored.paper.tables._noisy import noisy_cell, noisy_settings
from anchored.paper.tables._small import small_noise

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

__all__ = ["FIGURE", "SCALES", "Numbers", "draw", "fnpal_row", "read"]

SCALES = (0.2, 1.0, 5.0, 20.0)
_RATES = (0.6, 0.8)
_CLAIM = "A small scale keeps anchored cross entropy from learning wrong labels; too small a one fits less."


def fnpal_row(scale: float) -> Row:
    """Make the row of cross entropy on an anchored, normalised head of this scale; anchors are turned randomly."""
    method = {"anchors": "random", "scale": scale}
    return Row(name=f"ce+fnpal (s={scale:g})", method="ce+fnpal", settings={"method": method}, ours=True)


_ROWS = (Row(name="ce", method="ce"), *map(fnpal_row, SCALES))
_TABLE = Table(
    name="scale",
    title="Test accuracy over epochs by scale",
    claim=_CLAIM,
    rows=_ROWS,
    cells=tuple(noisy_cell("cifar10", eta, f"symmetric={eta}:apl") for eta in _RATES),
    build=noisy_settings,
)
_QUICK = Table(
    name="scale (quick)",
    title=_TABLE.title,
    claim=_CLAIM,
    rows=_ROWS,
    cells=tuple(map(small_noise, _RATES)),
    build=noisy_settings,
)


@dataclass(frozen=True)
class Numbers:
    """Test accuracy after each epoch."""

    ce: Mapping[float, Sequence[float]]
    """Curves of cross entropy, by noise rate."""
    fnpal: Mapping[float, Mapping[float, Sequence[float]]]
    """Curves of anchored cross entropy, by noise rate and scale."""


def read(runs: Runs) -> Numbers:
    """Read the curves of the figure."""
    cells = dict(zip(_RATES, dict.fromkeys(job.cell for job in runs.jobs), strict=True))
    return Numbers(
        ce={eta: runs.accuracies(runs.job("ce", cell)) for eta, cell in cells.items()},
        fnpal={
            eta: {s: runs.accuracies(runs.job(fnpal_row(s).name, cell)) for s in SCALES} for eta, cell in cells.items()
        },
    )


def draw(numbers: Numbers) -> Picture:
    """Draw one panel per noise rate: cross entropy dashed, the scales from dark to light."""
    picture, panels = subplots(1, len(numbers.ce), size=(3.7, 2.9))
    for axes, (eta, plain) in zip(panels, numbers.ce.items(), strict=True):
        curves = [(f"s = {s:g}", curve) for s, curve in numbers.fnpal[eta].items()]
        ends: list[tuple[float, str, str]] = []
        for (name, curve), colour in zip(curves, ramp(len(curves)), strict=True):
            percent = [100 * each for each in curve]
            axes.plot(range(1, len(curve) + 1), percent, color=colour)
            ends.append((percent[-1], name, colour))
        axes.plot(range(1, len(plain) + 1), [100 * each for each in plain], color=ACCENT, linestyle=(0, (4, 2)))
        ends.append((100 * plain[-1], "CE", ACCENT))
        axes.set_title(f"symmetric noise, η = {eta:g}")
        axes.set_xlabel("epoch")
        axes.set_xlim(1, len(plain))
        axes.grid(axis="y")
        end_labels(axes, ends)
    panels[0].set_ylabel("test accuracy (%)")
    return picture


FIGURE: Figure[Numbers] = Figure(
    name="scale",
    claim=_CLAIM,
    cost="Ten runs of 17 hours on one core; half an hour each on one GPU, an estimate. Quick: 2 minutes.",
    table=_TABLE,
    quick=_QUICK,
    from_records=True,
    read=read,
    draw=draw,
)

"""Lengths of prototypes and features by weight decay: the larger it is, the shorter both are.

Claim
    Weight decay is what bounds prototypes and features in ordinary training: as it grows, the prototypes of all classes
    become shorter, and the distribution of the features' lengths moves to the left.

Command
    ``anchored paper figure norms --data-root DATA``; in minutes, on MNIST: ``--quick``.

Setting
    Cross entropy with ResNet-32 on CIFAR-100-LT with ratio 100: four runs of the table ``weight_decay``, the same as in
    the figure ``reliability``. Classes stand in the order of their frequency; features are those of the test set.

Cost
    Four runs of 200 epochs: 6 to 8 hours each on one core, 12 to 16 hours on two cores; on one GPU, an estimate, 20
    minutes each, 80 in all. Quick: half a minute.

Expected
    In (a) four curves, one under the other in the order 0, 5e-5, 5e-4, 1e-3; in (b) four humps, further left in the
    same order. The paper's text has no lengths. Quick (0, 1e-3, 1e-2, 3e-2): the prototype of the most frequent digit
    is 3.0, 2.4, 1.9 and 1.7 long, that of the rarest 1.5, 1.2, 0.7 and 0.3, the mean feature 9.1, 7.2, 4.2 and 3.1.

References:
    Zhou et al., 2022. Prototype-Anchored Learning for Learning with Imperfect Annotations. ICML.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from torch import Tensor

from anchored import metrics
from anchored.paper.figures._decays import decays_table, quick_decays_table
from anchored.paper.figures.figure import Figure
from anchored.paper.figures.runs import Runs
from anchored.paper.figures.style import ramp, subplots

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

__all__ = ["FIGURE", "Numbers", "draw", "read"]

_CLAIM = "A larger weight decay makes prototypes and features shorter."
_BINS = 60


@dataclass(frozen=True)
class Numbers:
    """Lengths by weight decay."""

    prototypes: Mapping[str, Tensor]
    """Lengths of the prototypes ``(k,)``."""
    features: Mapping[str, Tensor]
    """Lengths of the features of test samples ``(n,)``."""


def read(runs: Runs) -> Numbers:
    """Read the lengths in the four networks."""
    prototypes: dict[str, Tensor] = {}
    features: dict[str, Tensor] = {}
    for job in runs.jobs:
        rows = runs.network(job).rows()
        assert rows is not None, "cross entropy has a linear head"
        prototypes[job.cell] = metrics.norms(rows)
        features[job.cell] = metrics.norms(runs.test_outputs(job).features)
    return Numbers(prototypes, features)


def draw(numbers: Numbers) -> Picture:
    """Draw prototypes by class left, the distribution of the features' lengths right."""
    picture, (left, right) = subplots(1, 2, size=(3.5, 2.8))
    colours = ramp(len(numbers.prototypes))
    longest = max(float(lengths.max()) for lengths in numbers.features.values())
    edges = np.linspace(0, longest, _BINS + 1)
    for (decay, lengths), colour in zip(numbers.prototypes.items(), colours, strict=True):
        k = len(lengths)
        left.plot(
            range(k),
            lengths.tolist(),
            color=colour,
            marker="o" if k <= 20 else None,
            markersize=3,
            label=f"weight decay {decay}",
        )
        density, _ = np.histogram(numbers.features[decay].numpy(), bins=edges, density=True)
        right.stairs(density, edges, color=colour, linewidth=1.2)
        right.stairs(density, edges, color=colour, alpha=0.18, fill=True)
    left.set_title("(a) length of prototypes")
    left.set_xlabel("class, most frequent first")
    left.set_ylim(bottom=0)
    left.grid(axis="y")
    right.set_title("(b) length of features")
    right.set_xlabel("length")
    right.set_ylabel("density")
    right.set_xlim(0, longest)
    right.set_ylim(bottom=0)
    picture.legend(loc="outside upper left", ncols=len(colours))
    return picture


FIGURE: Figure[Numbers] = Figure(
    name="norms",
    claim=_CLAIM,
    cost="Four runs of 6 to 8 hours on one core; 20 minutes each on one GPU, an estimate. Quick: half a minute.",
    table=decays_table("norms", "ce"),
    quick=quick_decays_table("norms", "ce"),
    read=read,
    draw=draw,
)

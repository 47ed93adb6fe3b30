"""Two-dimensional features of MNIST: how a long tail squeezes the rare digits, and how anchors keep their room.

Claim
    (a) Cross entropy on balanced digits spreads classes evenly. (b) On a long tail the frequent digits take most of the
    plane, their prototypes are longer and further apart. (c) Normalising features and prototypes makes lengths equal,
    but the directions of rare digits are still squeezed together. (d) With anchored prototypes every digit keeps a
    sector of the same width.

Command
    ``anchored paper figure mnist_features --data-root DATA``; in a minute: ``--quick``.

Setting
    A long tail of ratio 10 in (b) to (d); the recipe of MNIST, 50 epochs. The paper names no network and no scale here:
    a perceptron with BatchNorm whose last layer has two units and no ReLU, and in (c) and (d) the scale 30 of "Norm".
    Ten corners of a simplex do not fit in a plane; the anchors are the best packing there, a regular decagon. Points
    are test images, areas the class that the head answers at each place, arrows the prototypes.

Cost
    Four runs, 6.6 million images: a quarter of an hour of one core, 8 minutes on two cores, an estimate from the speed
    of the quick version, which takes a minute. On one GPU, an estimate, 5 minutes.

Expected
    In (b) the digits 0 to 3 have most of the plane and the longest arrows, 7 to 9 narrow areas and short ones; in (c)
    the arrows have one length, those of 7 to 9 close to each other; in (d) ten sectors of 36 degrees. The paper prints
    no accuracy. Quick: 94.8, 87.7, 83.9 and 86.3 %, so that anchors are two points above normalisation alone, but not
    above plain cross entropy.

References:
    Zhou et al., 2022. Prototype-Anchored Learning for Learning with Imperfect Annotations. ICML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from anchored import metrics
from anchored.paper.figures.figure import Figure
from anchored.paper.figures.runs import Runs
from anchored.paper.figures.style import CLASSES, readable_on, subplots
from anchored.paper.table import Cell, Row, Table
from anchored.paper.tables._longtailed import WHOLE
from anchored.runs import recipes
from anchored.training import merge

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

__all__ = ["FIGURE", "Panel", "draw", "read"]

_CLAIM = "A long tail squeezes the room of rare classes; normalisation alone does not give it back, anchors do."
_POINTS = 30
_GRID = 240
_REACH = 0.99


def _rows(balanced: Sequence[str]) -> tuple[Row, ...]:
    return (
        Row(name="ce (balanced)", method="ce", settings={"data": {"corrupt": list(balanced)}}, ours=True),
        Row(name="ce", method="ce"),
        Row(name="norm", method="norm"),
        Row(name="norm+pal", method="norm+pal"),
    )


_TITLES = {
    "ce (balanced)": "(a) CE, balanced",
    "ce": "(b) CE, long-tailed",
    "norm": "(c) normalised, long-tailed",
    "norm+pal": "(d) anchored, long-tailed",
}


def _table(name: str, corrupt: str, balanced: Sequence[str], changes: Mapping[str, Any]) -> Table:
    own = {
        "data": {"source": "mnist", "corrupt": [corrupt], "normalize": "mnist"},
        "backbone": {"name": "mlp", "last_relu": False, "options": {"hidden": [512, 256, 2], "batch_norm": True}},
        "train": {"evaluate": False},
    }
    settings = merge(merge(merge(recipes.get("mnist"), WHOLE), own), changes)
    return Table(
        name=name,
        title="Two-dimensional features",
        claim=_CLAIM,
        rows=_rows(balanced),
        cells=(Cell(name="mnist", title="mnist", settings=settings),),
    )


_TABLE = _table("mnist_features", "longtail=10", (), {})
_SHORT = {"optimizer": {"lr": 0.1}, "train": {"epochs": 30}, "backbone": {"options": {"hidden": [256, 128, 2]}}}
_QUICK = _table("mnist_features (quick)", "longtail=10:1000", ("longtail=1:1000",), _SHORT)


@dataclass(frozen=True)
class Panel:
    """One network: its test features, and its head in the plane."""

    title: str
    features: Tensor
    """Features of a few test images ``(n, 2)``."""
    labels: Tensor
    """Their classes ``(n,)``."""
    rows: Tensor
    """Prototypes ``(k, 2)``."""
    reach: float
    """Half the side of the plane that is shown."""
    areas: Tensor
    """The class answered on a grid of that plane ``(g, g)``, from the lower left."""
    accuracy: float
    """Accuracy on the whole test set."""


def read(runs: Runs) -> list[Panel]:
    """Read the four panels."""
    panels: list[Panel] = []
    for job in runs.jobs:
        network, seen = runs.network(job), runs.test_outputs(job)
        rows = network.rows()
        assert rows is not None, "all four heads have prototypes"
        some = torch.cat([(seen.labels == label).nonzero()[:_POINTS, 0] for label in range(len(rows))])
        # A few images lie far out and would shrink all others.
        reach = 1.1 * float(seen.features.abs().amax(dim=1).quantile(_REACH))
        panels.append(
            Panel(
                title=_TITLES[job.row],
                features=seen.features[some],
                labels=seen.labels[some],
                rows=rows.detach(),
                reach=reach,
                areas=answers(network.head, reach),
                accuracy=metrics.accuracy(seen.logits, seen.labels),
            )
        )
    return panels


@torch.inference_mode()
def answers(head: nn.Module, reach: float, grid: int = _GRID) -> Tensor:
    """Return the class that ``head`` answers in each cell of a grid over the plane.

    Args:
        head: Maps features ``(n, 2)`` to logits.
        reach: Half the side of the plane.
        grid: Cells per side.

    Returns:
        Classes ``(grid, grid)`` at the middle of each cell, from the lower left.

    Example:
        >>> from anchored import AnchoredHead
        >>> corners = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
        >>> answers(AnchoredHead(2, 2, prototypes=corners), reach=1.0, grid=2)
        tensor([[1, 0],
                [1, 0]])
    """
    middles = reach * ((torch.arange(grid) + 0.5) * 2 / grid - 1)
    plane = torch.cartesian_prod(middles, middles).flip(1)  # rows go up, columns to the right
    classes: Tensor = head(plane).argmax(dim=1)
    return classes.reshape(grid, grid)


def draw(panels: Sequence[Panel]) -> Picture:
    """Draw points, prototypes as arrows with their digit, and areas in the colour of their class."""
    picture, places = subplots(2, 2, size=(3.1, 3.2))
    for axes, panel in zip(places, panels, strict=True):
        _panel(axes, panel)
    return picture


def _panel(axes: Axes, panel: Panel) -> None:
    from matplotlib.colors import ListedColormap

    reach, k = panel.reach, len(panel.rows)
    axes.imshow(
        panel.areas.numpy(),
        cmap=ListedColormap(CLASSES[:k]),
        vmin=-0.5,
        vmax=k - 0.5,
        extent=(-reach, reach, -reach, reach),
        origin="lower",
        alpha=0.25,
        interpolation="none",
    )
    colours = [CLASSES[label] for label in panel.labels.tolist()]
    x, y = panel.features.T.numpy()
    axes.scatter(x, y, s=4, c=colours, linewidths=0, rasterized=True)
    tips = panel.rows / metrics.norms(panel.rows).max() * 0.8 * reach
    axes.quiver(*torch.zeros_like(tips).T, *tips.T, angles="xy", scale_units="xy", scale=1, width=0.005, zorder=2)
    marks = tips + 0.09 * reach * tips / metrics.norms(tips)[:, None]
    x, y = marks.T.numpy()
    axes.scatter(x, y, s=90, c=CLASSES[:k], edgecolors="white", linewidths=0.6, zorder=3)
    for label, (right, up) in enumerate(marks.tolist()):
        colour = readable_on(CLASSES[label])
        axes.text(right, up, str(label), ha="center", va="center_baseline", fontsize=8, color=colour)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), xticks=[], yticks=[], aspect="equal")
    axes.spines[:].set_visible(False)
    axes.set_title(f"{panel.title}: {100 * panel.accuracy:.1f} %")


FIGURE: Figure[Sequence[Panel]] = Figure(
    name="mnist_features",
    claim=_CLAIM,
    cost="A quarter of an hour of one core, 5 minutes on one GPU, estimates. Quick: a minute.",
    table=_TABLE,
    quick=_QUICK,
    read=read,
    draw=draw,
)

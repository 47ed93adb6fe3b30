"""The figures of the paper as commands: each file names its runs, reads its numbers off them, and draws."""

from collections.abc import Mapping
from typing import Any

from anchored.paper.figures import fnpal_fnpn, memorisation, mnist_features, norms, reliability, scale, webvision_labels
from anchored.paper.figures.figure import Figure

__all__ = ["FIGURES", "Figure"]

FIGURES: Mapping[str, Figure[Any]] = {
    "mnist_features": mnist_features.FIGURE,
    "reliability": reliability.FIGURE,
    "norms": norms.FIGURE,
    "scale": scale.FIGURE,
    "fnpal_fnpn": fnpal_fnpn.FIGURE,
    "webvision_labels": webvision_labels.FIGURE,
    "memorisation": memorisation.FIGURE,
}
"""Every figure that ``anchored paper figure`` knows, in the order of the paper, and ours."""

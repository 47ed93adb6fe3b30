"""Figures by name: a literal list, one file each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anchored._names import choose
from anchored.paper.figures import fnpal_fnpn, memorisation, mnist_features, norms, reliability, scale, webvision_labels
from anchored.paper.figures.figure import Figure

__all__ = ["FIGURES", "get"]

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


def get(name: str) -> Figure[Any]:
    """Return the figure called ``name``, in any case and with ``-`` or ``_``.

    Raises:
        InputError: If there is no such figure; the message names the nearest ones.

    Example:
        >>> get("fnpal-fnpn").name
        'fnpal_fnpn'
    """
    return choose(name.strip().lower().replace("-", "_"), FIGURES, what="figure")

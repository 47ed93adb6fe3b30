"""The noisy-label setting of Ma et al. (2020), as the paper runs it.

All training labels are trained on, nothing is held out, and the number reported is the test accuracy after the last
epoch. So the temperature is fitted on the training data; no accuracy depends on it. Losses have the settings of the
reference's configuration files; the factor of the focal losses is held constant in the gradient, as there. The scale
of the normalised, anchored heads is 0.25/(0.05 + eta) with the nominal rate, and 10 under the active-passive sums.

The published anchors are a randomly turned simplex. Rows called ``(aligned)`` have ours, aligned with the orthant
in which features that end in ReLU lie; no published number belongs to them.

References:
    Ma et al., 2020. Normalized Loss Functions for Deep Learning with Noisy Labels. ICML.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anchored.losses import SETTINGS
from anchored.paper.table import Cell, Row
from anchored.runs import recipes
from anchored.training import merge

__all__ = ["ROWS", "loss_settings", "noisy_cell", "noisy_settings"]

_PLAIN = ("ce", "fl", "gce", "sce", "nce+mae", "nce+rce", "nfl+rce")
_DETACHED = ("fl", "nfl")

ROWS: tuple[Row, ...] = (
    *(Row(name=name, method=name) for name in _PLAIN),
    Row(name="nsl", method="nsl", settings={"method": {"anchors": "random"}}),
    *(Row(name=f"{name}+fnpal", method=f"{name}+fnpal", settings={"method": {"anchors": "random"}}) for name in _PLAIN),
    Row(name="nsl (aligned)", method="nsl", settings={"method": {"anchors": "aligned"}}, ours=True),
    *(
        Row(
            name=f"{name}+fnpal (aligned)",
            method=f"{name}+fnpal",
            settings={"method": {"anchors": "aligned"}},
            ours=True,
        )
        for name in _PLAIN
    ),
)
"""The paper's fifteen rows, then the anchored ones again with aligned anchors."""


def noisy_cell(data: str, eta: float, corruption: str) -> Cell:
    """Make the cell of a data set with a share ``eta`` of its labels wrong.

    Args:
        data: Name of the data set and of its recipe.
        eta: Noise rate.
        corruption: How the noise is drawn, as ``data.corrupt`` takes it; not used if ``eta`` is 0.

    Returns:
        The cell, with the recipe of the data set.

    Example:
        >>> noisy_cell("mnist", 0.8, "symmetric=0.8:apl").settings["method"]
        {'noise_rate': 0.8}
    """
    return Cell(
        name=f"{data}/{eta:.1f}",
        title=f"{data} {eta:.1f}",
        settings=merge(
            recipes.get(data),
            {
                "data": {
                    "source": data,
                    "corrupt": [corruption] if eta > 0 else [],
                    "hold_out": 0.0,
                    "normalize": data,
                },
                # Stated even if it is 0: a noise-aware method would otherwise assume a rate.
                "method": {"noise_rate": eta},
            },
        ),
    )


def loss_settings(loss: str, data: str) -> dict[str, Any]:
    """Return the published settings of a loss; the factor of focal losses is detached, as in the reference.

    Args:
        loss: Name of the loss.
        data: Name of the data set.

    Returns:
        Settings for :func:`anchored.losses.get`.

    Example:
        >>> loss_settings("nfl+rce", "mnist")
        {'alpha': 1.0, 'beta': 10.0, 'gamma': 0.5, 'detach': True}
    """
    settings: dict[str, Any] = dict(SETTINGS[data].get(loss, {}))
    if loss.split("+")[0] in _DETACHED:
        settings["detach"] = True
    return settings


def noisy_settings(row: Row, cell: Cell) -> Mapping[str, Any]:
    """Put together the recipe of the cell's data set, the row's method, and its loss as published.

    Args:
        row: The row.
        cell: The cell.

    Returns:
        The settings of a run, without its seed.

    Example:
        >>> noisy_settings(ROWS[2], noisy_cell("mnist", 0.8, "symmetric=0.8:apl"))["method"]
        {'noise_rate': 0.8, 'name': 'gce', 'loss': {'q': 0.7}}
    """
    loss = row.method.removesuffix("+fnpal").removesuffix("+fnpn")
    data = cell.settings["data"]["source"]
    return merge(cell.settings, {"method": {"name": row.method, "loss": loss_settings(loss, data)}})

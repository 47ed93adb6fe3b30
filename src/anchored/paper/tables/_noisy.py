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
from anchored.runs import recipe
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
    """A data set with a share ``eta`` of its labels wrong, drawn as ``corruption`` says."""
    return Cell(
        name=f"{data}/{eta:.1f}",
        title=f"{data} {eta:.1f}",
        settings=merge(
            recipe(data),
            {
                "data": {
                    "source": data,
                    "corrupt": [corruption] if eta > 0 else [],
                    "hold_out": 0.0,
                    "normalize": data,
                },
                # Stated even where it is 0: a noise-aware method would otherwise assume a rate.
                "method": {"noise_rate": eta},
            },
        ),
    )


def loss_settings(loss: str, data: str) -> dict[str, Any]:
    """The published settings of a loss; the factor of focal losses detached, as in the reference.

    Example:
        >>> loss_settings("nfl+rce", "mnist")
        {'alpha': 1.0, 'beta': 10.0, 'gamma': 0.5, 'detach': True}
    """
    settings: dict[str, Any] = dict(SETTINGS[data].get(loss, {}))
    if loss.split("+")[0] in _DETACHED:
        settings["detach"] = True
    return settings


def noisy_settings(row: Row, cell: Cell) -> Mapping[str, Any]:
    """The recipe of the data set, the row's method, and its loss as published."""
    loss = row.method.removesuffix("+fnpal").removesuffix("+fnpn")
    data = cell.settings["data"]["source"]
    return merge(cell.settings, {"method": {"name": row.method, "loss": loss_settings(loss, data)}})

"""What the paper leaves unstated, one setting at a time: CE+FNPAL on MNIST with four labels in five wrong. Ours.

Claim
    The published 79.23 of CE+FNPAL is a number after the last epoch, which falls once wrong labels are learnt by heart.
    How far it falls depends on settings that the paper does not name: how the noise is drawn, how pixels are scaled,
    whether the gradient is clipped, and which of two files of the reference was followed.

Command
    ``anchored paper run unstated --data-root DATA --seeds 0``. The first two rows are runs of ``noise_symmetric`` and
    are shared with it.

Setting
    Each row differs from the first, which is that of ``noise_symmetric``, by what stands in its brackets. ``iid``: each
    label is drawn for itself, so that all classes have the same rate but for chance, instead of the same number of
    wrong labels in each. ``pixels``: between 0 and 1, instead of zero mean and unit variance. ``reference``: weight
    decay 0.01, Nesterov's momentum and a lowest rate of 0.001, as the file of the reference says.

Cost
    22 minutes of one core per run (measured: 2,300 images per second); on one GPU, an estimate, 5 minutes.

References:
    Ma et al., 2020. Normalized Loss Functions for Deep Learning with Noisy Labels. ICML.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anchored.paper.published import published
from anchored.paper.table import Row, Table
from anchored.paper.tables._noisy import noisy_cell, noisy_settings

__all__ = ["TABLE"]

_ETA = 0.8
_CELL = noisy_cell("mnist", _ETA, f"symmetric={_ETA}:apl")
_IID: Mapping[str, Any] = {"corrupt": [f"symmetric={_ETA}:iid"]}
_PIXELS: Mapping[str, Any] = {"normalize": "none"}
_VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "aligned": {"method": {"anchors": "aligned"}},
    "iid": {"data": _IID},
    "pixels": {"data": _PIXELS},
    "iid, pixels": {"data": {**_IID, **_PIXELS}},
    "no clipping": {"optimizer": {"clip": None}},
    "reference": {
        "optimizer": {"weight_decay": 1e-2, "nesterov": True},
        "schedule": {"options": {"lowest": 0.1}},
    },
}


def _row(variant: str | None, changes: Mapping[str, Any]) -> Row:
    settings = {"method": {"anchors": "random"}, **changes}
    name = "ce+fnpal" if variant is None else f"ce+fnpal ({variant})"
    return Row(name=name, method="ce+fnpal", settings=settings, ours=variant is not None)


_ROWS = (_row(None, {}), *(_row(variant, changes) for variant, changes in _VARIANTS.items()))
_PRINTED = published("noise_symmetric")["ce+fnpal", _CELL.name, "accuracy"]

TABLE = Table(
    name="unstated",
    title="Test accuracy (%) after the last epoch, MNIST, symmetric label noise, CE+FNPAL",
    claim="What the paper does not state moves its number by more than its uncertainty.",
    rows=_ROWS,
    cells=(_CELL,),
    build=noisy_settings,
    published={(row.name, _CELL.name, "accuracy"): _PRINTED for row in _ROWS},
)

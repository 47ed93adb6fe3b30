"""What the paper leaves unstated, one setting at a time, on MNIST with four labels in five wrong. Ours.

Claim
    The published numbers are those after the last epoch, when wrong labels have been learnt by heart. How many, depends
    on what the paper does not name. The draw of the noise alone moves an anchored number by five to seven points, the
    scaling of pixels by none. The table has rows for clipping and for the other of two files of the reference, too.

Command
    ``anchored paper run unstated --data-root DATA --seeds 0``. Rows without brackets and aligned ones are runs of
    ``noise_symmetric`` and are shared with it.

Setting
    A row differs from that of its method without brackets by what stands in them. ``iid``: each label is drawn for
    itself, so that all classes have the same rate but for chance, instead of the same number of wrong labels in each.
    ``pixels``: between 0 and 1, instead of zero mean and unit variance. ``reference``: weight decay 0.01, Nesterov's
    momentum and a lowest rate of 0.001, as the file of the reference says.

Cost
    22 minutes per run on a free core (measured: 2,300 images per second; 22 to 35 in the records, which had other work
    beside); on one GPU, an estimate, 5 minutes. All of it, 60 runs: 11 hours on two cores, and 5 hours on one GPU, an
    estimate.

Expected
    From the records, seed 0, last epoch. CE 23.11; CE+FNPAL 79.57, with noise drawn label by label 86.96, with aligned
    anchors 82.62, with pixels between 0 and 1 79.56; GCE+FNPAL 87.90, label by label 93.04; NCE+RCE label by label
    73.60. Published: 22.32, 79.23, 94.65 and 74.80. The other rows were not run.

References:
    Ma et al., 2020. Normalized Loss Functions for Deep Learning with Noisy Labels. ICML.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anchored.paper.published import published_numbers
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
    "aligned, iid": {"method": {"anchors": "aligned"}, "data": _IID},
    "pixels": {"data": _PIXELS},
    "iid, pixels": {"data": {**_IID, **_PIXELS}},
    "no clipping": {"optimizer": {"clip": None}},
    "reference": {
        "optimizer": {"weight_decay": 1e-2, "nesterov": True},
        "schedule": {"options": {"lowest": 0.1}},
    },
}


def _rows(method: str, *variants: str) -> list[Row]:
    own: dict[str, Any] = {"method": {"anchors": "random"}} if method.endswith("+fnpal") else {}
    return [
        Row(name=method, method=method, settings=own),
        *(
            Row(name=f"{method} ({variant})", method=method, settings={**own, **_VARIANTS[variant]}, ours=True)
            for variant in variants
        ),
    ]


_ROWS = (
    *_rows("ce", "iid"),
    *_rows("ce+fnpal", *_VARIANTS),
    *_rows("gce+fnpal", "iid"),
    *_rows("sce+fnpal", "iid"),
    *_rows("nce+rce", "iid"),
    *_rows("nce+rce+fnpal", "aligned", "iid", "aligned, iid"),
)
_PRINTED = published_numbers("noise_symmetric")

TABLE = Table(
    name="unstated",
    title="Test accuracy (%), last and best epoch, MNIST, symmetric label noise",
    claim="What the paper does not state moves its numbers by more than their uncertainty.",
    rows=_ROWS,
    cells=(_CELL,),
    build=noisy_settings,
    measures=("accuracy", "best"),
    published={(row.name, _CELL.name, "accuracy"): _PRINTED[row.method, _CELL.name, "accuracy"] for row in _ROWS},
)

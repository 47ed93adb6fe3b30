"""Which anchors suit features that end in ReLU: a random simplex, an aligned one, or signed features. Ours.

Claim
    Features behind a ReLU are non-negative, and most of a randomly turned simplex is out of their reach: the best
    worst-class margin is about 0.6 of the 1.11 that ten classes allow. Aligned with the orthant it is 1.05; without
    the last ReLU it is 1.11 for any orientation. The table asks what that is worth in accuracy, loss by loss and rate
    by rate, and which scale suits the losses for which the paper names none.

Command
    ``anchored paper run orientation --data-root DATA --cell mnist/0.8``. Random and aligned rows are the same runs as
    in ``noise_symmetric`` and are shared with it.

Cost
    MNIST, from the measured speed: 32 minutes of one core per run. CIFAR-10: about 20 hours of one core; on one GPU, an
    estimate, 5 and 30 minutes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anchored.paper.table import Row, Table
from anchored.paper.tables._noisy import noisy_cell, noisy_settings

__all__ = ["TABLE"]

_LOSSES = ("ce", "fl", "gce", "sce", "nce+rce")
_ORIENTATIONS: Mapping[str, Mapping[str, Any]] = {
    "random": {"method": {"anchors": "random"}},
    "aligned": {"method": {"anchors": "aligned"}},
    "signed": {"method": {"anchors": "random"}, "backbone": {"last_relu": False}},
}
_SCALES = {
    # The paper names a scale for CE and SCE (from the rate) and for the active-passive sums (10), not for these two.
    "fl+fnpal (aligned, s=10)": ("fl+fnpal", 10.0),
    "gce+fnpal (aligned, s=10)": ("gce+fnpal", 10.0),
    "nce+rce+fnpal (aligned, s=1)": ("nce+rce+fnpal", 1.0),
}


def _rows() -> tuple[Row, ...]:
    methods = [*(f"{loss}+fnpal" for loss in _LOSSES), "nsl"]
    turned = [
        Row(name=f"{method} ({name})", method=method, settings=settings, ours=True)
        for method in methods
        for name, settings in _ORIENTATIONS.items()
    ]
    scaled = [
        Row(name=name, method=method, settings={"method": {"anchors": "aligned", "scale": scale}}, ours=True)
        for name, (method, scale) in _SCALES.items()
    ]
    return (*turned, *scaled)


TABLE = Table(
    name="orientation",
    title="Test accuracy (%) after the last epoch by orientation of the anchors, symmetric label noise",
    claim="Anchors that non-negative features can reach hold better than a randomly turned simplex.",
    rows=_rows(),
    cells=tuple(
        noisy_cell(data, eta, f"symmetric={eta}:apl")
        for data, rates in (("mnist", (0.0, 0.2, 0.4, 0.6, 0.8)), ("cifar10", (0.6, 0.8)))
        for eta in rates
    ),
    build=noisy_settings,
)

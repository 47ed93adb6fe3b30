"""A small version of a setting: a few thousand digits of MNIST and a small perceptron, seconds per run.

Noise and imbalance are drawn as in the paper's setting, and the network has BatchNorm before each ReLU, as the paper's
have. The learning rate is ten times that of the whole MNIST, since an epoch has at least ten times fewer steps.
"""

from __future__ import annotations

from anchored.paper.table import Cell
from anchored.paper.tables._noisy import noisy_cell
from anchored.training import merge

__all__ = ["LONGTAILED", "small_noise"]

_SMALL = {
    "backbone": {"name": "mlp", "options": {"hidden": [256, 128], "batch_norm": True}},
    "optimizer": {"lr": 0.1},
    "train": {"epochs": 40},
}


def _digits(name: str, corrupt: list[str], eta: float) -> Cell:
    cell = noisy_cell("mnist", eta, "")
    small = merge(merge(cell.settings, _SMALL), {"data": {"corrupt": corrupt}})
    return Cell(name=name, title=name.replace("/", " "), settings=small)


def small_noise(eta: float) -> Cell:
    """Make a cell of 5,000 digits, 500 of each, with a share ``eta`` of their labels wrong.

    Example:
        >>> small_noise(0.6).settings["data"]["corrupt"]
        ['longtail=1:500', 'symmetric=0.6:apl']
    """
    return _digits(f"mnist-small/{eta:.1f}", ["longtail=1:500", f"symmetric={eta}:apl"], eta)


LONGTAILED = _digits("mnist-small/longtail-100", ["longtail=100:1000"], 0.0)
"""2,478 digits, from 1000 zeros down to 10 nines."""

"""Weight decay decides long-tailed accuracy, until it is too much: ten values, three methods, CIFAR-100-LT.

Claim
    Weight decay bounds prototypes and features and so brings ordinary training closer to what anchors do by
    construction: up to 1e-3 accuracy rises, with deferred weights and Balanced Softmax most, and beyond everything
    breaks down.

Command
    ``anchored paper run weight_decay --data-root DATA``, or one value: ``--cell 5e-4``.

Setting
    ResNet-32 on CIFAR-100-LT with ratio 100 in LDAM's recipe; only the weight decay changes. The paper does not name
    the recipe; its 38.69 for cross entropy at 2e-4 is LDAM's own number up to noise.

Cost
    6 to 8 hours of one core per run (100 images per second, measured, and the test set scored after every epoch); 20
    minutes on one GPU, an estimate. All of it, 90 runs, an estimate: 270 to 360 hours on two cores, 30 hours on one
    GPU.

Expected
    Published, at 0, 2e-4, 1e-3 and 1e-2. CE 37.36, 38.69, 40.78 and 13.19; CE+DRW 38.16, 40.59, 46.18 and 18.10;
    Balanced Softmax 38.27, 42.68, 47.21 and 17.5. For all three 1e-3 is the best of the ten values.

References:
    Zhou et al., 2022. Prototype-Anchored Learning for Learning with Imperfect Annotations. ICML.
"""

from __future__ import annotations

from anchored.paper.published import published_numbers
from anchored.paper.table import Cell, Table
from anchored.paper.tables._longtailed import WHOLE, longtailed_row
from anchored.runs import recipes
from anchored.training import merge

__all__ = ["TABLE"]

_DECAYS = ("0", "5e-5", "1e-4", "2e-4", "3e-4", "5e-4", "7e-4", "1e-3", "5e-3", "1e-2")


def _cell(decay: str) -> Cell:
    settings = merge(
        recipes.get("cifar-longtail"),
        {"data": {"source": "cifar100", "corrupt": ["longtail=100"]}, "optimizer": {"weight_decay": float(decay)}},
    )
    return Cell(name=decay, title=decay, settings=merge(settings, WHOLE))


TABLE = Table(
    name="weight_decay",
    title="Test accuracy (%), best epoch, CIFAR-100-LT with ratio 100, by weight decay",
    claim="Weight decay, which bounds prototypes and features, decides long-tailed accuracy.",
    rows=tuple(longtailed_row(name) for name in ("ce", "ce+drw", "balanced-softmax")),
    cells=tuple(map(_cell, _DECAYS)),
    published=published_numbers("weight_decay"),
    epoch="best",
)

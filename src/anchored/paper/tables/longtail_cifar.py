"""CIFAR-10 and CIFAR-100, long-tailed and step-wise: anchors under six training schemes in LDAM's setting.

Claim
    Anchored prototypes improve cross entropy, normalised heads and LDAM, with and without deferred re-weighting (DRW),
    in most of eight kinds of imbalance; plain cross entropy on CIFAR-100 only.

Command
    ``anchored paper run longtail_cifar --data-root DATA``, or a part: ``--cell cifar10/longtail-100 --method 'ldam*'``.

Setting
    ResNet-32, 200 epochs, batches of 128, learning rate 0.1 with five epochs of warm-up, times 0.01 at 160 and 0.0001
    at 180, weight decay 2e-4, no clipping. The reference prints the best test epoch. On CIFAR-100 the 100 classes are
    more than the 64 features plus one, so that no simplex exists: random anchors are a direct sum of simplices.

Cost
    One core trains on about 100 images per second of ResNet-32 (measured). A run is then 7 hours for the long tail of
    100 on CIFAR-10 (12,406 images), 6 on CIFAR-100 (10,847), 11 for that of 10, 14 and 15 step-wise, and one to two
    hours more for scoring the test set after every epoch. One GPU, an estimate: 20 to 45 minutes. All of it, 432 runs,
    an estimate: 2,500 to 2,900 hours on two cores, 240 hours on one GPU.

Expected
    Published, with anchors against without: 38 of 48 cells are higher. LDAM-DRW on CIFAR-10, step 100, 75.54 against
    72.22, the largest gain; on CIFAR-10, long tail of 100, 77.79 against 76.00; on CIFAR-100, long tail of 100, 42.98
    against 41.28. The largest loss is that of CE on CIFAR-10, step 100: 62.81 against 64.54.

References:
    Cao et al., 2019. Learning Imbalanced Datasets with Label-Distribution-Aware Margin Loss. NeurIPS.
"""

from __future__ import annotations

from anchored.paper.published import published_numbers
from anchored.paper.table import Cell, Table
from anchored.paper.tables._longtailed import WHOLE, rows_with_anchors
from anchored.runs import recipes
from anchored.training import merge

__all__ = ["TABLE"]


def _cell(data: str, kind: str, rho: int) -> Cell:
    settings = merge(recipes.get("cifar-longtail"), {"data": {"source": data, "corrupt": [f"{kind}={rho}"]}})
    return Cell(name=f"{data}/{kind}-{rho}", title=f"{data} {kind} {rho}", settings=merge(settings, WHOLE))


_SCHEMES = ("ce", "ce+drw", "norm", "norm+drw", "ldam", "ldam+drw")

TABLE = Table(
    name="longtail_cifar",
    title="Test accuracy (%), best epoch, CIFAR in the setting of LDAM",
    claim="Anchors improve six training schemes in 38 of 48 published cells.",
    rows=rows_with_anchors(*(f"{name}{pal}" for name in _SCHEMES for pal in ("", "+pal"))),
    cells=tuple(
        _cell(data, kind, rho) for data in ("cifar10", "cifar100") for kind in ("longtail", "step") for rho in (100, 10)
    ),
    published=published_numbers("longtail_cifar"),
    epoch="best",
)

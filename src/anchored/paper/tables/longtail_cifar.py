"""CIFAR-10 and CIFAR-100, long-tailed and step-wise: anchors under four training schemes in LDAM's setting.

Claim
    Anchored prototypes improve cross entropy, normalised heads and LDAM, with and without deferred re-weighting, in
    most of eight kinds of imbalance: LDAM-DRW on CIFAR-10, step 100, 72.22 without and 75.54 with anchors.

Command
    ``anchored paper run longtail_cifar --data-root DATA``, or a part: ``--cell cifar10/longtail-100 --method 'ldam*'``.

Setting
    ResNet-32, 200 epochs, batches of 128, learning rate 0.1 with five epochs of warm-up, times 0.01 at 160 and 0.0001
    at 180, weight decay 2e-4, no clipping. The reference prints the best test epoch. On CIFAR-100 the 100 classes are
    more than the 64 features plus one, so that no simplex exists: random anchors are a direct sum of simplices.

Cost
    One core does about 100 images per second on ResNet-32 (measured): a CIFAR-10 long-tailed run of 12,406 images 7
    hours, a CIFAR-100 one of 10,847 images 6 hours, a step-wise one 14 hours. One GPU, an estimate: 20 to 45 minutes.

References:
    Cao et al., 2019. Learning Imbalanced Datasets with Label-Distribution-Aware Margin Loss. NeurIPS.
"""

from __future__ import annotations

from anchored.paper.published import published
from anchored.paper.table import Cell, Table
from anchored.paper.tables._longtailed import WHOLE, rows_with_anchors
from anchored.training.config import merge
from anchored.training.recipes import recipe

__all__ = ["TABLE"]


def _cell(data: str, kind: str, rho: int) -> Cell:
    settings = merge(recipe("cifar-longtail"), {"data": {"source": data, "corrupt": [f"{kind}={rho}"]}})
    return Cell(name=f"{data}/{kind}-{rho}", title=f"{data} {kind} {rho}", settings=merge(settings, WHOLE))


_SCHEMES = ("ce", "ce+drw", "norm", "norm+drw", "ldam", "ldam+drw")

TABLE = Table(
    name="longtail_cifar",
    title="Test accuracy (%), best epoch, CIFAR in the setting of LDAM",
    claim="Anchors improve four training schemes under most kinds of imbalance.",
    rows=rows_with_anchors(*(f"{name}{pal}" for name in _SCHEMES for pal in ("", "+pal"))),
    cells=tuple(
        _cell(data, kind, rho) for data in ("cifar10", "cifar100") for kind in ("longtail", "step") for rho in (100, 10)
    ),
    published=published("longtail_cifar"),
    epoch="best",
)

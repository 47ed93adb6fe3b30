"""Train classifiers that hold if labels are wrong or classes unbalanced, by fixing the directions of the classes.

Importing this package does no work: names, and the packages below it, are looked up on first use, so that
``anchored --help`` need not wait for torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anchored import audit as audit
    from anchored import backbones as backbones
    from anchored import bench as bench
    from anchored import cli as cli
    from anchored import data as data
    from anchored import demo as demo
    from anchored import estimator as estimator
    from anchored import export as export
    from anchored import features as features
    from anchored import heads as heads
    from anchored import imbalance as imbalance
    from anchored import integrations as integrations
    from anchored import losses as losses
    from anchored import methods as methods
    from anchored import metrics as metrics
    from anchored import noise as noise
    from anchored import paper as paper
    from anchored import prototypes as prototypes
    from anchored import report as report
    from anchored import review as review
    from anchored import ridge as ridge
    from anchored import runs as runs
    from anchored import schedules as schedules
    from anchored import theory as theory
    from anchored import training as training
    from anchored._errors import InputError as InputError
    from anchored.estimator import AnchoredClassifier as AnchoredClassifier
    from anchored.estimator import AnchoredRegression as AnchoredRegression
    from anchored.estimator import AnchoredRidge as AnchoredRidge
    from anchored.export import load as load
    from anchored.heads import AnchoredHead as AnchoredHead
    from anchored.heads import CosineHead as CosineHead
    from anchored.heads import LinearHead as LinearHead
    from anchored.heads import anchor_ as anchor_

__version__ = "0.2.0"

_HOME = {
    "AnchoredClassifier": "anchored.estimator",
    "AnchoredHead": "anchored.heads",
    "AnchoredRegression": "anchored.estimator",
    "AnchoredRidge": "anchored.estimator",
    "CosineHead": "anchored.heads",
    "InputError": "anchored._errors",
    "LinearHead": "anchored.heads",
    "anchor_": "anchored.heads",
    "load": "anchored.export",
}
_PACKAGES = (
    "audit",
    "backbones",
    "bench",
    "cli",
    "data",
    "demo",
    "estimator",
    "export",
    "features",
    "heads",
    "imbalance",
    "integrations",
    "losses",
    "methods",
    "metrics",
    "noise",
    "paper",
    "prototypes",
    "report",
    "review",
    "ridge",
    "runs",
    "schedules",
    "theory",
    "training",
)

__all__ = [
    "AnchoredClassifier",
    "AnchoredHead",
    "AnchoredRegression",
    "AnchoredRidge",
    "CosineHead",
    "InputError",
    "LinearHead",
    "__version__",
    "anchor_",
    "audit",
    "backbones",
    "bench",
    "cli",
    "data",
    "demo",
    "estimator",
    "export",
    "features",
    "heads",
    "imbalance",
    "integrations",
    "load",
    "losses",
    "methods",
    "metrics",
    "noise",
    "paper",
    "prototypes",
    "report",
    "review",
    "ridge",
    "runs",
    "schedules",
    "theory",
    "training",
]


def __getattr__(name: str) -> object:
    if name in _PACKAGES:
        return import_module(f"anchored.{name}")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'anchored' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

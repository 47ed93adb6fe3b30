"""The published numbers: 623 cells of seven tables, in percent, read from the files in ``numbers/``.

The files are the tables as printed. If the print is known to be wrong or unclear, the cell carries a note; the
number itself is never changed.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

__all__ = ["Published", "key_of", "published_numbers"]


@dataclass(frozen=True)
class Published:
    """One number of the paper.

    Attributes:
        mean: Mean in percent.
        std: Standard deviation over the paper's three runs, if it was printed.
        note: What is known to be wrong or unclear about the number.
    """

    mean: float
    std: float | None = None
    note: str | None = None


_CELLS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "longtail_cifar100": {f"ratio_{rho}": (f"cifar100/longtail-{rho}", "accuracy") for rho in (100, 50, 10)},
    "longtail_cifar": {
        f"{data}_{kind}_{rho}": (f"{data}/{kind}-{rho}", "accuracy")
        for data in ("cifar10", "cifar100")
        for kind in ("longtail", "step")
        for rho in (100, 10)
    },
    "longtail_imagenet": {
        "many": ("imagenet-lt", "many"),
        "medium": ("imagenet-lt", "medium"),
        "few": ("imagenet-lt", "few"),
        "all": ("imagenet-lt", "accuracy"),
    },
    "weight_decay": {
        decay: (decay, "accuracy")
        for decay in ("0", "5e-5", "1e-4", "2e-4", "3e-4", "5e-4", "7e-4", "1e-3", "5e-3", "1e-2")
    },
    "webvision_mini": {"accuracy": ("webvision-mini", "accuracy")},
}
"""Cell and measure of each column, for the tables that are printed as a grid."""

_SLIPS: Mapping[tuple[str, str, str], str] = {
    ("noise_symmetric", "nfl+rce+fnpal", "cifar100/*"): (
        "the full table calls this row NFL+MAE+FNPAL; its numbers are those of NFL+RCE+FNPAL"
    ),
    ("noise_symmetric", "gce+fnpal", "mnist/0.8"): "the best of its column, though 88.56 is the marked one",
    ("noise_asymmetric", "gce+fnpal", "mnist/0.3"): "the best of its column, though 98.43 is the marked one",
    ("noise_asymmetric", "fl+fnpal", "cifar100/0.2"): "printed in bold, though FL without anchors has 58.37",
    ("noise_asymmetric", "sce+fnpal", "cifar100/0.2"): "printed in bold, though SCE without anchors has 58.15",
    ("longtail_cifar", "norm+drw+pal", "cifar100/longtail-10"): "printed in bold, though Norm+DRW has 56.89",
    ("longtail_cifar100", "bbn", "*"): "BBN is printed as BNN",
    ("longtail_cifar100", "lade", "cifar100/longtail-10"): "LADE's own paper has 61.7",
    ("longtail_cifar100", "ldam", "*"): "above the LDAM row of the other long-tailed table: another recipe, not stated",
    ("longtail_cifar100", "ldam+drw", "*"): "above the LDAM-DRW row of the other long-tailed table: another recipe",
}
"""What is known to be wrong or unclear in print; ``*`` is every cell (of the data set)."""

_SPELLED = {"pcsoftmax": "pc-softmax", "causal norm": "causal-norm", "balanced softmax": "balanced-softmax"}


def key_of(title: str) -> str:
    """Return the row's name in the catalogue from the one that the paper prints.

    Example:
        >>> key_of("LDAM-DRW-PAL"), key_of("Causal Norm"), key_of("NCE+RCE+FNPAL")
        ('ldam+drw+pal', 'causal-norm', 'nce+rce+fnpal')
    """
    name = title.strip().lower()
    return _SPELLED[name] if name in _SPELLED else name.replace("-", "+")


@cache
def published_numbers(table: str) -> Mapping[tuple[str, str, str], Published]:
    """Read the numbers of ``table`` by row, cell and measure; empty for a table that the paper does not have.

    Example:
        >>> published_numbers("noise_symmetric")["ce+fnpal", "mnist/0.8", "accuracy"]
        Published(mean=79.23, std=0.87, note=None)
    """
    path = files("anchored.paper").joinpath("numbers", f"{table}.csv")
    if not path.is_file():
        return MappingProxyType({})
    lines = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    found: dict[tuple[str, str, str], Published] = {}
    for line in lines:
        row = key_of(line["method"])
        if "noise_rate" in line:
            cell = f"{line['dataset']}/{line['noise_rate']}"
            mean, std = float(line["accuracy_mean"]), float(line["accuracy_std"])
            found[row, cell, "accuracy"] = Published(mean, std, _slip(table, row, cell))
            continue
        for column, (cell, measure) in _CELLS[table].items():
            found[row, cell, measure] = Published(float(line[column]), None, _slip(table, row, cell))
    return MappingProxyType(found)


def _slip(table: str, row: str, cell: str) -> str | None:
    for pattern in (cell, f"{cell.partition('/')[0]}/*", "*"):
        if (table, row, pattern) in _SLIPS:
            return _SLIPS[table, row, pattern]
    return None

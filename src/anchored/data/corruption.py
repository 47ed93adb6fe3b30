"""Corruption inside a run: ``longtail=100``, ``step=10``, ``symmetric=0.8``, ``asymmetric=0.4``.

Imbalance comes first and noise second, whatever the order they are written in: the noise rate is then that of
the labels training sees. The clean labels stay beside the corrupted ones, for evaluation only, and a receipt says
what happened.

For imbalance the largest class keeps n/k samples, or fewer where the data is not balanced itself and some class would
have to give more than it has. Asymmetric noise uses the published mapping of the data set where there is one, and
otherwise mistakes class i for class i + 1 mod k.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from torch import Tensor

from anchored._checks import check_real
from anchored._errors import InputError
from anchored._names import suggest
from anchored._random import stream
from anchored.data.dataset import Dataset
from anchored.imbalance import counts as class_counts
from anchored.imbalance import subset as class_subset
from anchored.noise import MAPPINGS, asymmetric, symmetric

__all__ = ["Corrupted", "CorruptionPlan", "corrupt"]

_NOISE = ("symmetric", "asymmetric")
_IMBALANCE = ("longtail", "step")


@dataclass(frozen=True)
class CorruptionPlan:
    """At most one imbalance and one noise.

    Example:
        >>> CorruptionPlan.parse(["symmetric=0.4", "longtail=100"])
        CorruptionPlan(imbalance='longtail', rho=100.0, noise='symmetric', eta=0.4)
    """

    imbalance: Literal["longtail", "step"] | None = None
    """The profile of the class sizes."""
    rho: float = 1.0
    """Largest class over smallest."""
    noise: Literal["symmetric", "asymmetric"] | None = None
    """How labels go wrong."""
    eta: float = 0.0
    """The noise rate."""

    def __post_init__(self) -> None:
        check_real("rho", self.rho, low=1, way_out="it is the largest class over the smallest")
        check_real("eta", self.eta, low=0, high=1, closed="left", way_out="it is a share of the labels")

    @classmethod
    def parse(cls, specs: Sequence[str] | str) -> CorruptionPlan:
        """From ``["symmetric=0.8", "longtail=100"]``, or the same separated by commas; in any order, each kind once."""
        specs = specs.split(",") if isinstance(specs, str) else specs
        found: dict[str, Any] = {}
        for spec in specs:
            kind, equals, value = (part.strip() for part in spec.partition("="))
            if kind not in _NOISE + _IMBALANCE:
                raise InputError(f"unknown corruption {kind!r} in {spec!r}; {suggest(kind, [*_NOISE, *_IMBALANCE])}")
            family, amount, example = ("noise", "eta", "0.4") if kind in _NOISE else ("imbalance", "rho", "100")
            try:
                number = float(value)
            except ValueError:
                number = math.nan
            if not equals or not math.isfinite(number):
                raise InputError(f"corruption {spec!r} needs a number, e.g. {kind}={example}")
            if family in found:
                before = found[family]
                rule = f"{kind} is given twice" if before == kind else f"{before} and {kind} exclude each other"
                raise InputError(f"corruption {spec!r}: {rule}; give one {family} only")
            found |= {family: kind, amount: number}
        return cls(**found)


@dataclass(frozen=True, eq=False)
class Corrupted:
    """The corrupted data, the places ``(n',)`` of its samples in the original, and what was done, as plain values."""

    dataset: Dataset
    kept: Tensor | None
    receipt: dict[str, Any]


def corrupt(dataset: Dataset, plan: CorruptionPlan | Sequence[str] | str, *, seed: int) -> Corrupted:
    """Unbalance ``dataset`` and falsify its labels as ``plan`` says.

    Args:
        dataset: Clean data; every sample must have a label. It is not changed.
        plan: What to do, or its text, see :meth:`CorruptionPlan.parse`.
        seed: The run's seed; imbalance and noise have a stream each.

    Example:
        >>> from anchored.data import load_digits
        >>> noisy = corrupt(load_digits().train, "symmetric=0.4", seed=0)
        >>> round(noisy.receipt["noise"]["rate"], 2)
        0.4
    """
    if not isinstance(plan, CorruptionPlan):
        plan = CorruptionPlan.parse(plan)
    if not dataset.labelled:
        raise InputError(f"{dataset.name}: only labels that are there can be corrupted; some samples have none")
    if dataset.clean_labels is not None:
        raise InputError(f"{dataset.name}: its labels were corrupted already; start from the clean data")
    receipt: dict[str, Any] = {}
    kept = None
    if plan.imbalance is not None:
        counts = _counts(dataset, plan)
        kept = class_subset(dataset.labels, counts, generator=stream(seed, "imbalance"))
        receipt["imbalance"] = {
            "kind": plan.imbalance,
            "rho": plan.rho,
            "counts": list(counts),
            "n": int(sum(counts)),
            "n_before": len(dataset),
        }
        dataset = dataset.subset(kept)
    if plan.noise is not None:
        generator = stream(seed, "noise")
        mapping: dict[int, int] | str | None = None
        if plan.noise == "symmetric":
            result = symmetric(dataset.labels, plan.eta, dataset.k, generator=generator)
        else:
            published = MAPPINGS.get(dataset.name)
            named = dataset.name if published is not None and published.k == dataset.k else None
            mapping = named or {i: (i + 1) % dataset.k for i in range(dataset.k)}
            result = asymmetric(dataset.labels, plan.eta, mapping, k=dataset.k, generator=generator)
        receipt["noise"] = {
            "kind": plan.noise,
            "eta": plan.eta,
            "mapping": None if mapping is None else mapping if isinstance(mapping, str) else "next class",
            "rate": float(result.rate),
            "flipped": int((result.labels != dataset.labels).sum()),
            "n": len(dataset),
        }
        dataset = dataset.with_labels(result.labels, clean_labels=dataset.labels)
    return Corrupted(dataset, kept, receipt)


def _counts(dataset: Dataset, plan: CorruptionPlan) -> list[int]:
    kind = cast('Literal["longtail", "step"]', plan.imbalance)
    k, available = dataset.k, dataset.counts.tolist()
    sizes = range(math.ceil(plan.rho), len(dataset) // k + 1)

    def asks_too_much(n_max: int) -> bool:
        return any(c > n for c, n in zip(class_counts(n_max, k, plan.rho, kind), available, strict=True))

    fitting = bisect_left(sizes, True, key=asks_too_much)
    if fitting == 0:
        raise InputError(
            f"{dataset.name}: {kind}={plan.rho:g} leaves a class without a sample, "
            f"as classes hold {min(available)} to {max(available)}; give a smaller ratio"
        )
    return list(class_counts(sizes[fitting - 1], k, plan.rho, kind))

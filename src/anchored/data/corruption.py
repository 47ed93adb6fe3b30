"""Corruption inside a run: ``longtail=100``, ``step=10``, ``symmetric=0.8``, ``asymmetric=0.4``.

Details follow after colons: the size of the largest class (``longtail=100:1000``), how the noise is drawn
(``symmetric=0.8:apl``, ``asymmetric=0.4:iid``), and by which published confusion
(``asymmetric=0.4:iid:cifar100_index_blocks``).

Imbalance comes first and noise second, whatever the order they are written in: the noise rate is then that of
the labels training sees. The clean labels stay beside the corrupted ones, for evaluation only, and a receipt says
what happened.

Unless its size is given, the largest class keeps n/k samples, or fewer if the data is not balanced itself and some
class would have to give more than it has. Asymmetric noise uses the published mapping of the data set if there is
one, and otherwise mistakes class i for class i + 1 mod k.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from torch import Tensor

from anchored._checks import check_integer, check_real
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
_MODES: dict[str, tuple[str, ...]] = {
    "symmetric": ("exact", "iid", "apl"),
    "asymmetric": ("exact", "iid", "apl_sequential"),
}


@dataclass(frozen=True)
class CorruptionPlan:
    """What to do to a data set: at most one imbalance and one noise.

    Example:
        >>> CorruptionPlan.parse(["symmetric=0.4", "longtail=100"])
        CorruptionPlan(imbalance='longtail', rho=100.0, n_max=None,
                       noise='symmetric', eta=0.4, mode='exact', mapping=None)
    """

    imbalance: Literal["longtail", "step"] | None = None
    """The profile of the class sizes."""
    rho: float = 1.0
    """Largest class over smallest."""
    n_max: int | None = None
    """Samples of the largest class; None for as many as there can be."""
    noise: Literal["symmetric", "asymmetric"] | None = None
    """How labels go wrong."""
    eta: float = 0.0
    """The noise rate."""
    mode: str = "exact"
    """How flips are drawn, see :func:`anchored.noise.symmetric` and :func:`anchored.noise.asymmetric`."""
    mapping: str | None = None
    """A published confusion by name; None for that of the data set."""

    def __post_init__(self) -> None:
        check_real("rho", self.rho, low=1, way_out="it is the largest class over the smallest")
        check_real("the noise rate", self.eta, low=0, high=1, closed="left", way_out="it is a share of the labels")
        if self.n_max is not None:
            check_integer("n_max", self.n_max, low=1, way_out="it is the size of the largest class")

    @classmethod
    def parse(cls, specs: Sequence[str] | str) -> CorruptionPlan:
        """Read a plan from ``["symmetric=0.8", "longtail=100"]``, or the same separated by commas, in any order.

        Raises:
            InputError: If a word is unknown, a number is missing, or a kind is given twice.

        Example:
            >>> CorruptionPlan.parse("longtail=100:1000").n_max
            1000
        """
        specs = specs.split(",") if isinstance(specs, str) else specs
        found: dict[str, Any] = {}
        for spec in specs:
            kind, equals, said = (part.strip() for part in spec.partition("="))
            value, *options = (part.strip() for part in said.split(":"))
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
            found |= {family: kind, amount: number} | _options(spec, kind, options)
        return cls(**found)


def _options(spec: str, kind: str, options: Sequence[str]) -> dict[str, Any]:
    """What the words after the colons say; each thing once."""
    found: dict[str, Any] = {}
    name: str
    value: int | str
    for option in options:
        if kind in _IMBALANCE:
            if not (option.isascii() and option.isdigit()):
                raise InputError(
                    f"corruption {spec!r}: after the colon comes the size of the largest class, got {option!r}; "
                    f"e.g. {kind}=100:1000"
                )
            name, value = "n_max", int(option)
        elif option in _MODES[kind]:
            name, value = "mode", option
        elif kind == "asymmetric" and option in MAPPINGS:
            name, value = "mapping", option
        else:
            known = [*_MODES[kind], *(MAPPINGS if kind == "asymmetric" else ())]
            raise InputError(f"corruption {spec!r}: unknown option {option!r}; {suggest(option, known)}")
        if name in found:
            raise InputError(f"corruption {spec!r} gives {name} twice; once is enough")
        found[name] = value
    return found


@dataclass(frozen=True, eq=False)
class Corrupted:
    """Corrupted data."""

    dataset: Dataset
    """The data with corrupted labels, the clean ones beside them."""
    kept: Tensor | None
    """Places ``(n',)`` of its samples in the original; None if all were kept."""
    receipt: dict[str, Any]
    """What was done, as plain values for a file."""


def corrupt(dataset: Dataset, plan: CorruptionPlan | Sequence[str] | str, *, seed: int) -> Corrupted:
    """Make a data set unbalanced and its labels wrong, as ``plan`` says.

    Args:
        dataset: Clean data; every sample must have a label. It is not changed.
        plan: What to do, or its text, see :meth:`CorruptionPlan.parse`.
        seed: Seed of the run; imbalance and noise have a random stream each.

    Returns:
        The corrupted data, and a receipt of what was done.

    Raises:
        InputError: If a sample has no label, labels were corrupted before, or a class is too small for the plan.

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
            mode = cast('Literal["exact", "iid", "apl"]', plan.mode)
            result = symmetric(dataset.labels, plan.eta, dataset.k, generator=generator, mode=mode)
        else:
            mapping = _mapping(dataset, plan)
            by = cast('Literal["exact", "iid", "apl_sequential"]', plan.mode)
            result = asymmetric(dataset.labels, plan.eta, mapping, k=dataset.k, generator=generator, mode=by)
        receipt["noise"] = {
            "kind": plan.noise,
            "eta": plan.eta,
            "mode": plan.mode,
            "mapping": None if mapping is None else mapping if isinstance(mapping, str) else "next class",
            "rate": float(result.rate),
            "flipped": int((result.labels != dataset.labels).sum()),
            "n": len(dataset),
        }
        dataset = dataset.with_labels(result.labels, clean_labels=dataset.labels)
    return Corrupted(dataset, kept, receipt)


def _mapping(dataset: Dataset, plan: CorruptionPlan) -> dict[int, int] | str:
    """The confusion that was asked for, or the data set's own, or the next class."""
    name = dataset.name if plan.mapping is None else plan.mapping
    published = MAPPINGS.get(name)
    if published is not None and published.k == dataset.k:
        return name
    if plan.mapping is not None:
        raise InputError(
            f"{dataset.name}: the confusion {plan.mapping!r} is of {MAPPINGS[plan.mapping].k} classes, "
            f"the data has {dataset.k}; leave it out"
        )
    return {i: (i + 1) % dataset.k for i in range(dataset.k)}


def _counts(dataset: Dataset, plan: CorruptionPlan) -> list[int]:
    kind = cast('Literal["longtail", "step"]', plan.imbalance)
    k, available = dataset.k, dataset.counts.tolist()
    if plan.n_max is not None:
        return _given_counts(dataset, plan.n_max, plan.rho, kind)
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


def _given_counts(dataset: Dataset, n_max: int, rho: float, kind: Literal["longtail", "step"]) -> list[int]:
    if n_max < rho:
        raise InputError(
            f"{dataset.name}: {kind}={rho:g}:{n_max} leaves a class without a sample; give a larger largest class"
        )
    counts = list(class_counts(n_max, dataset.k, rho, kind))
    for i, (asked, there) in enumerate(zip(counts, dataset.counts.tolist(), strict=True)):
        if asked > there:
            raise InputError(
                f"{dataset.name}: {kind}={rho:g}:{n_max} asks for {asked} samples of class {i}, which has {there}; "
                f"give a smaller largest class"
            )
    return counts

"""Losses by name: a literal table of terms, and ``+`` between two of them.

A setting goes to the terms that know it; one that no term knows is refused. ``alpha`` and ``beta`` are
the factors of the first and the second term of a sum (the active and the passive one, in the
literature's words); ``alpha`` is also the factor of a normalised loss on its own. Symmetric cross entropy and LADE
have an ``alpha`` of their own, which is set if they stand alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable

from anchored._errors import InputError
from anchored._names import choose
from anchored.losses._base import Loss, Options
from anchored.losses.absolute import MeanAbsoluteError, ReverseCrossEntropy
from anchored.losses.anchored_squared import AnchoredSquared
from anchored.losses.combination import Sum
from anchored.losses.cross_entropy import CrossEntropy
from anchored.losses.dot_regression import DotRegression
from anchored.losses.focal import Focal
from anchored.losses.generalized import GeneralizedCrossEntropy
from anchored.losses.lade import LADE
from anchored.losses.margin import LDAM
from anchored.losses.normalized import Normalized
from anchored.losses.prior import BalancedSoftmax, LogitAdjusted
from anchored.losses.sample_logit import NegativeSampleLogit
from anchored.losses.smoothing import LabelAwareSmoothing
from anchored.losses.symmetric import SymmetricCrossEntropy

__all__ = ["NAMES", "canonical", "get", "needs_counts"]

NAMES: dict[str, Callable[..., Loss]] = {
    "ce": CrossEntropy,
    "fl": Focal,
    "gce": GeneralizedCrossEntropy,
    "sce": SymmetricCrossEntropy,
    "mae": MeanAbsoluteError,
    "rce": ReverseCrossEntropy,
    "nce": CrossEntropy,
    "nfl": Focal,
    "ngce": GeneralizedCrossEntropy,
    "nsl": NegativeSampleLogit,
    "ldam": LDAM,
    "balanced-softmax": BalancedSoftmax,
    "logit-adjusted": LogitAdjusted,
    "lade": LADE,
    "label-aware": LabelAwareSmoothing,
    "dot-regression": DotRegression,
    "anchored-squared": AnchoredSquared,
}
"""Name to the class that takes its settings; the names of ``NORMALIZED`` are wrapped."""

NORMALIZED = ("nce", "nfl", "ngce")

_OF_EVERY_LOSS = tuple(Options.__annotations__)


def get(name: str, **settings: object) -> Loss:
    """Return the loss called ``name``, or the sum of two.

    Args:
        name: A key of :data:`NAMES`, or two with ``+`` between them, in any case: ``"nce+rce"``.
        settings: ``q``, ``gamma``, ``scale``, ``counts`` and so on for the terms that have them; ``alpha``
            and ``beta``, the factors of the terms; ``weight``, ``reduction`` and ``ignore_index`` for the whole.

    Raises:
        InputError: If the name or a setting is unknown, or ``counts`` are needed and missing.

    Example:
        >>> import torch
        >>> loss = get("nce+rce", alpha=1.0, beta=10.0)
        >>> loss(torch.zeros(1, 4), torch.tensor([2]))      # 1/4 + 10 * 9.2103 * 3/4
        tensor(69.3276)
        >>> get("ngce", q=0.5)
        Normalized(
          (loss): GeneralizedCrossEntropy(q=0.5)
        )
    """
    terms = canonical(name).split("+")
    for_all = {key: value for key, value in settings.items() if key in _OF_EVERY_LOSS}
    if len(terms) == 2:
        known = {*_own_settings(terms[0]), *_own_settings(terms[1])} - {"alpha", "beta"}
        _refuse_others(name, settings, known | {"alpha", "beta"})
        factors = [settings.get("alpha", 1.0), settings.get("beta", 1.0)]
        return Sum(*(_term(term, settings, known) for term in terms), factors=factors, **for_all)  # type: ignore[arg-type]  # checked by Sum
    own = _own_settings(name := terms[0])
    scaled = name in NORMALIZED
    _refuse_others(name, settings, {*own, "alpha"} if scaled else own)
    if scaled and "alpha" in settings:
        return Sum(_term(name, settings, own), factors=[settings["alpha"]], **for_all)  # type: ignore[arg-type,list-item]  # checked by Sum
    return _term(name, settings, {*own, *_OF_EVERY_LOSS})


def canonical(name: str) -> str:
    """Return ``name`` as the tables spell it; an unknown term is refused, with the nearest names.

    Example:
        >>> canonical("NCE + Balanced_Softmax")
        'nce+balanced-softmax'
    """
    if not isinstance(name, str):
        raise InputError(f"the name of a loss must be a string such as 'nce+rce', got {name!r}")
    terms = [term.strip().lower().replace("_", "-") for term in name.split("+")]
    for term in terms:
        choose(term, NAMES, what="loss" if len(terms) == 1 else f"term of loss {name!r}:")
    if len(terms) > 2:
        raise InputError(f"a name may join two losses, got {len(terms)} in {name!r}; add losses with + for more")
    return "+".join(terms)


def needs_counts(name: str) -> bool:
    """Return whether the loss called ``name``, or a term of the sum, is built from the class counts.

    Example:
        >>> needs_counts("ldam"), needs_counts("nce+rce")
        (True, False)
    """
    return any("counts" in _own_settings(term) for term in canonical(name).split("+"))


def _own_settings(term: str) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(NAMES[term]).parameters
    return {
        key: value
        for key, value in parameters.items()
        if key not in _OF_EVERY_LOSS and value.kind is not inspect.Parameter.VAR_KEYWORD
    }


def _term(term: str, settings: dict[str, object], wanted: Iterable[str]) -> Loss:
    own = {key: settings[key] for key in (*_own_settings(term), *_OF_EVERY_LOSS) if key in settings and key in wanted}
    for key, parameter in _own_settings(term).items():
        if parameter.default is inspect.Parameter.empty and key not in own:
            raise InputError(f"loss {term!r} needs {key}; pass get({term!r}, {key}=...), one entry per class")
    loss = NAMES[term](**own)
    return Normalized(loss) if term in NORMALIZED else loss


def _refuse_others(name: str, settings: dict[str, object], known: Iterable[str]) -> None:
    allowed = sorted({*known, *_OF_EVERY_LOSS})
    for key in settings:
        if key not in allowed:
            raise InputError(f"loss {name!r} has no setting {key!r}; it takes {', '.join(allowed)}")

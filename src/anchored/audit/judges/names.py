"""Judges by name, and which of them are asked if nobody says."""

from __future__ import annotations

from collections.abc import Sequence

from anchored._names import choose
from anchored.audit.judges.base import AXES, Judge, Opinion, Vectors
from anchored.audit.judges.boosted import boosted
from anchored.audit.judges.kernel_ridge import kernel_ridge
from anchored.audit.judges.neighbours import neighbours
from anchored.audit.judges.probe import probe
from anchored.audit.judges.ridge import balanced_ridge, ridge
from anchored.audit.judges.second_round import second_round

__all__ = ["JUDGES", "adds_nothing", "choose_judges", "get"]

JUDGES: dict[str, Judge] = {
    "ridge": ridge,
    "ridge-balanced": balanced_ridge,
    "kernel-ridge": kernel_ridge,
    "neighbours": neighbours,
    "boosted": boosted,
    "probe": probe,
    "second-round": second_round,
}
"""Name to judge, the cheap ones first. The judge ``network`` needs inputs rather than vectors: see ``network.py``."""

_UNBALANCED = 5.0
"""Ratio of the largest to the smallest class above which all classes are also given the same weight."""
_BOOSTED_COLUMNS, _BOOSTED_CLASSES, _BOOSTED_WORK = 64, 4, 4e5
"""Trees are grown for every class and fold, which takes long for many classes however few samples there are."""
_KERNEL_WORK, _PROBE_WORK, _SECOND_WORK = 1e6, 3e7, 5e7
_FAR_BEHIND = 0.05
"""Share of the best log-likelihood by which a linear model may fall short if a second one is to be asked."""


def get(name: str) -> Judge:
    """Return a judge by its name.

    Raises:
        InputError: If there is none of this name; the message shows the nearest ones.

    Example:
        >>> get("ridge").__name__
        'ridge'
    """
    return choose(name, JUDGES, what="judge")


def choose_judges(judges: str | Sequence[str], vectors: Vectors) -> tuple[str, ...]:
    """Return the names of the judges to ask.

    ``auto`` asks the linear closed form and the neighbours; the balanced closed form if classes differ much in size;
    the kernel, boosted trees, logistic regression and a second round if the data is small enough for them to be quick.
    Logistic regression may still be passed over, see :func:`adds_nothing`, and so may the second round.

    Args:
        judges: ``"auto"``, a name, or several.
        vectors: The samples.

    Returns:
        Names in the order in which they are asked.

    Raises:
        InputError: If a name is unknown.

    Example:
        >>> import torch
        >>> rows = Vectors.check(torch.rand(60, 200), torch.arange(60) % 3, 3)
        >>> choose_judges("auto", rows)
        ('ridge', 'kernel-ridge', 'neighbours', 'probe', 'second-round')
    """
    if judges != "auto":
        asked = (judges,) if isinstance(judges, str) else tuple(judges)
        for name in asked:
            get(name)
        return tuple(dict.fromkeys(asked))
    n, d = vectors.X.shape
    sizes = vectors.labels.bincount(minlength=vectors.k)
    sizes = sizes[sizes > 0]
    chosen = ["ridge", "neighbours"]
    if n * d <= _KERNEL_WORK:
        chosen.append("kernel-ridge")
    if float(sizes.max()) > _UNBALANCED * float(sizes.min()):
        chosen.append("ridge-balanced")
    if d <= _BOOSTED_COLUMNS and vectors.k <= _BOOSTED_CLASSES and n * d * vectors.k <= _BOOSTED_WORK:
        chosen.append("boosted")
    if n * min(d, AXES) * vectors.k <= _PROBE_WORK:
        chosen.append("probe")
    if n * d * min(n, d) <= _SECOND_WORK:
        chosen.append("second-round")
    return tuple(name for name in JUDGES if name in chosen)


def adds_nothing(name: str, opinions: Sequence[Opinion]) -> bool:
    """Tell whether a judge need not be asked, by what the cheaper ones have said.

    Logistic regression is linear like the closed form. If that is far behind the others, a line does not separate these
    classes, and a second linear model would get no weight.

    Args:
        name: Name of the judge.
        opinions: What was said before.

    Example:
        >>> import torch
        >>> said = [Opinion("ridge", torch.zeros(1, 2), -0.62, 0.5), Opinion("boosted", torch.zeros(1, 2), -0.58, 0.5)]
        >>> adds_nothing("probe", said), adds_nothing("neighbours", said), adds_nothing("probe", said[:1])
        (True, False, False)
    """
    found = {each.name: each.log_likelihood for each in opinions}
    if name != "probe" or "ridge" not in found:
        return False
    best = max(found.values())
    return found["ridge"] < best - _FAR_BEHIND * abs(best)

"""The verdict on vectors: judges are asked one by one and combined, and the noise of the labels is estimated."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from anchored._progress import Progress
from anchored._random import stream
from anchored.audit.flags import flag
from anchored.audit.judges.base import Opinion, Vectors
from anchored.audit.judges.calibrate import opinion_of
from anchored.audit.judges.combine import combine, likelihood_under_law
from anchored.audit.judges.folds import folds_of
from anchored.audit.judges.knowable import LEVEL, SYSTEMATIC, chance, nothing_known, p_value
from anchored.audit.judges.names import adds_nothing, choose_judges, get
from anchored.audit.label_noise import LabelNoise, fit_label_noise, judge_labels

__all__ = ["Verdict", "judge_vectors"]

_CERTAIN = 1e-12
"""P-value below which labels can be judged for sure, however much the answers depend on each other."""
SECOND = "second-round"
_LEAST_FOR_SECOND = 0.05
"""Share of wrong labels from which on a second round may see more than the first."""
_LEAST_GAIN = 2.0
"""Nats by which the second round must make the given labels likelier, all together."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the judges found.

    Attributes:
        logits: Combined log-probabilities ``(n, k)``, float64; no sample was judged by a model that saw its label.
        opinions: What each judge said, how well it predicts the given labels, its weight and its time.
        noise: Estimated noise of the labels. If nothing can be known its rate means nothing; see :attr:`rate`.
        posterior: Probabilities ``(n, k)`` of the true labels. If nothing can be known, the labels as they are given.
        knowable: Whether held-out labels are predicted better than without looking.
        labels: The labels ``(n,)`` that were judged.
        accuracy: Share of the held-out given labels that the judges together predict.
        gamma: Sharpness of the kernel that a judge has chosen; None if none has.
    """

    logits: Tensor
    opinions: tuple[Opinion, ...]
    noise: LabelNoise
    posterior: Tensor
    knowable: bool
    labels: Tensor
    accuracy: float
    gamma: float | None = None

    @property
    def chance(self) -> float:
        """Share of the largest class."""
        return chance(self.labels)

    @property
    def rate(self) -> float | None:
        """Estimated share of wrong labels; None if nothing can be known."""
        return self.noise.rate if self.knowable else None

    def flagged(self, labels: Tensor) -> Tensor:
        """Return which labels ``(n,)`` are flagged, judged within their class; see :func:`anchored.audit.flag`."""
        return flag(self.posterior, labels)

    @property
    def text(self) -> str:
        """The findings in a few sentences."""
        if not self.knowable:
            return nothing_known(self.accuracy, self.labels)
        low, high = self.noise.interval
        asked = ", ".join(f"{each.name} {each.weight or 0.0:.0%}" for each in self.opinions)
        doubt = (
            " Another label is nearly as common as the likeliest one even where the judges are surest, so nobody can "
            "tell from the labels which of the two is true."
            if high == 1.0
            else ""
        )
        return (
            f"About {self.noise.rate:.1%} of the {len(self.logits):,} labels look wrong (between {low:.1%} and "
            f"{high:.1%}).{doubt} Held-out labels are predicted with {self.accuracy:.1%} accuracy; always naming the "
            f"largest class has {self.chance:.1%}. Judges: {asked}. {SYSTEMATIC}"
        )


def judge_vectors(
    X: Tensor,
    labels: Tensor,
    k: int,
    *,
    weights: Tensor | None = None,
    confirmed: Tensor | None = None,
    given: Tensor | None = None,
    judges: str | Sequence[str] = "auto",
    others: Sequence[Opinion] = (),
    seed: int = 0,
    progress: Progress | None = None,
) -> Verdict:
    """Judge the labels of vectors.

    Args:
        X: Features ``(n, d)``, finite, of any real type.
        labels: Classes ``(n,)`` in 0..k-1 as given; those that a person corrected, as corrected.
        k: Number of classes.
        weights: How much each sample counts ``(n,)``; None for one each.
        confirmed: ``(n,)`` bool, which labels a person has looked at and stands for; None if nobody has.
        given: ``(n,)``, the labels before anything was corrected; needed beside ``confirmed``, or the rest looks
            cleaner than it is. None if nothing was corrected.
        judges: ``"auto"``, a name of :data:`anchored.audit.judges.JUDGES`, or several. Logistic regression (``probe``)
            is passed over if the closed form (``ridge``) was asked too and is far behind the others. The second round
            beside others is asked last, and listened to only if it makes the given labels likelier.
        others: Opinions that were made elsewhere and join the judges', such as that of a network.
        seed: Seed of folds and bootstrap.
        progress: Is told about each judge.

    Returns:
        The verdict; the same for the same arguments.

    Raises:
        InputError: If the data cannot be used, or a judge is unknown.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> truth = torch.arange(600) % 3
        >>> X = 4 * torch.eye(3)[truth] + torch.randn(600, 3, generator=generator)
        >>> given = torch.where(torch.rand(600, generator=generator) < 0.2, (truth + 1) % 3, truth)
        >>> verdict = judge_vectors(X, given, 3)
        >>> verdict.knowable, abs(verdict.noise.rate - float((given != truth).double().mean())) < 0.03
        (True, True)
        >>> judge_vectors(torch.randn(600, 3, generator=generator), given, 3).rate is None
        True
    """
    vectors = Vectors.check(X, labels, k, weights=weights, seed=seed)
    names = choose_judges(judges, vectors)
    if int((vectors.labels.bincount() > 0).sum()) < 2 or len(vectors) < max(2 * k, 8):
        return _unknown(vectors, torch.zeros(len(vectors), k, dtype=torch.float64), ())
    first = tuple(name for name in names if name != SECOND) or names
    opinions = list(others)
    for name in first:
        if not adds_nothing(name, opinions):
            opinions.append(_asked(name, vectors, progress))
    logits, weighted = combine(opinions, vectors.labels, vectors.weights)
    if not _known(logits, vectors, first, others):
        return _unknown(vectors, logits, weighted)
    if SECOND in names and first != names:
        logits, weighted = _with_second_round(vectors, logits, weighted, progress)
    noise, posterior = judge_labels(
        logits,
        vectors.labels,
        weights=vectors.weights,
        confirmed=confirmed,
        given=given,
        generator=stream(seed, "noise rate"),
    )
    accuracy, gamma = _accuracy(logits, vectors), vectors.found.get("gamma")
    return Verdict(logits, weighted, noise, posterior, True, vectors.labels, accuracy, gamma)


def _asked(name: str, vectors: Vectors, progress: Progress | None) -> Opinion:
    """Ask one judge."""
    start = time.perf_counter()
    said = _timed(opinion_of(name, get(name)(vectors), vectors), time.perf_counter() - start)
    if progress is not None:
        progress.say(
            f"{said.name} predicts {said.accuracy:.1%} of the labels that it did not see ({said.seconds:.1f} s)"
        )
    return said


def _with_second_round(
    vectors: Vectors, logits: Tensor, opinions: tuple[Opinion, ...], progress: Progress | None
) -> tuple[Tensor, tuple[Opinion, ...]]:
    """Let the second round join the first, if labels look wrong, and if it makes the given labels likelier."""
    labels, weights = vectors.labels, vectors.weights
    if fit_label_noise(logits, labels, weights=weights).rate < _LEAST_FOR_SECOND:
        return logits, opinions
    both, weighted = combine([*opinions, _asked(SECOND, vectors, progress)], labels, weights)
    before, after = (likelihood_under_law(each, labels, weights) for each in (logits, both))
    return (both, weighted) if len(vectors) * (after - before) > _LEAST_GAIN else (logits, opinions)


def _known(logits: Tensor, vectors: Vectors, names: Sequence[str], others: Sequence[Opinion]) -> bool:
    """Tell whether anything can be known about the labels.

    Answers by leaving out rest on nearly the same labels and chose their settings by them, so they agree by chance more
    often than a binomial law allows: of random labels, a fifth would pass a test at one in a hundred. Unless the answer
    is beyond doubt, the judges are asked again, about one half of the samples by the labels of the other alone.
    """
    p = p_value(logits, vectors.labels)
    if p < _CERTAIN or not names:
        return p < LEVEL
    if p >= LEVEL:
        return False
    if any(p_value(each.logits, vectors.labels) < _CERTAIN for each in others):
        return True
    half = folds_of(vectors, 2)
    return any(_p_of_half(vectors, half == number, names) < LEVEL / 2 for number in (0, 1))


def _p_of_half(vectors: Vectors, asked: Tensor, names: Sequence[str]) -> float:
    """Return the p-value of what judges who learn from the other half say of the samples ``asked``: an exact test."""
    each = vectors.each * ~asked
    if int((vectors.labels[each > 0].bincount() > 0).sum()) < 2 or not bool(asked.any()):
        return 1.0
    taught = replace(vectors, weights=each)
    opinions = [opinion_of(name, get(name)(taught), taught) for name in names]
    said, _ = combine(opinions, taught.labels, taught.weights)
    return p_value(said[asked], vectors.labels[asked])


def _timed(opinion: Opinion, seconds: float) -> Opinion:
    return Opinion(opinion.name, opinion.logits, opinion.log_likelihood, opinion.accuracy, None, seconds)


def _accuracy(logits: Tensor, vectors: Vectors) -> float:
    right = (logits.argmax(dim=1) == vectors.labels).to(torch.float64)
    return float(right @ vectors.each / vectors.each.sum())


def _unknown(vectors: Vectors, logits: Tensor, opinions: tuple[Opinion, ...]) -> Verdict:
    """Return a verdict in which every label is taken as it is given, and the rate may be anything."""
    k = vectors.k
    noise = LabelNoise.unknown(k, len(vectors))
    posterior = torch.nn.functional.one_hot(vectors.labels, k).to(torch.float64)
    return Verdict(logits, opinions, noise, posterior, False, vectors.labels, _accuracy(logits, vectors))

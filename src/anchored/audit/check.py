r"""A random sample that a person checks: from its answers come a rate, an interval and probabilities one can rely on.

Labels alone cannot show mistakes that annotators make systematically, nor tell a hard sample from a wrong label. A
person who looks at fifty samples **drawn at random**, not at the most suspect ones, can. With m answers, of which w say
that the label is wrong, the rate has the posterior Beta(w + 1/2, m - w + 1/2) (Jeffreys' prior), whose central 95 % is
the interval.

The probabilities of being wrong are corrected by a logistic regression of the answers on them,

.. math::  \operatorname{logit} p' = a + b \operatorname{logit} p,

in which a and b have normal priors about 0 and 1. The fewer answers there are, the less is changed; a is chosen so that
the corrected probabilities agree with the answers on average.

From a hundred answers on, a second correction may follow: isotonic regression, any curve that does not fall, drawn
towards the line above. It is taken if it makes answers likelier that it was not fitted to (ten folds).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from scipy.special import betaincinv
from torch import Tensor

from anchored._checks import check_integer
from anchored._errors import InputError
from anchored._random import generator_or_default
from anchored.audit.label_noise import LabelNoise

__all__ = ["Checked", "check_sample", "correct_by_check"]

_LEVEL = 0.95
_SLOPE_PRECISION, _SHIFT_PRECISION = 4.0, 0.25
"""Precisions of the priors: the slope is 1 up to 0.5, the shift 0 up to 2 nats."""
_MOST_STEPS = 50
_FEWEST_FOR_CURVE, _CURVE_FOLDS = 100, 10
_PULL_TO_LINE = 0.5
"""Weight of the line at each answer, in answers."""
_EDGE = 1e-6


@dataclass(frozen=True, eq=False)
class Checked:
    """What a checked random sample says.

    Attributes:
        noise: The noise with rate and interval from the answers.
        posterior: Corrected probabilities ``(n, k)`` of the true labels; certain for those checked.
        probability_wrong: Corrected probability ``(n,)`` that each given label is wrong; 0 or 1 for those checked.
        checked: Number of answers.
        wrong: Number of answers that say that the label is wrong.
    """

    noise: LabelNoise
    posterior: Tensor
    probability_wrong: Tensor
    checked: int
    wrong: int

    @property
    def text(self) -> str:
        """The finding in a sentence."""
        low, high = self.noise.interval
        return (
            f"Of {self.checked} labels checked at random {self.wrong} are wrong: {self.noise.rate:.1%} of all labels, "
            f"between {low:.1%} and {high:.1%}."
        )


def check_sample(n: int, size: int, generator: torch.Generator | None = None) -> Tensor:
    """Draw the samples that a person should check: at random, every sample with the same chance.

    Args:
        n: Number of samples.
        size: How many to check; at most n.
        generator: Source of randomness; None means seed 0.

    Returns:
        Places ``(min(size, n),)`` in increasing order, none twice.

    Raises:
        InputError: If one of the numbers is not positive.

    Example:
        >>> len(check_sample(1000, 50)), len(check_sample(20, 50))
        (50, 20)
    """
    check_integer("n", n, low=1)
    check_integer("size", size, low=1, way_out="50 is a good start")
    return torch.randperm(n, generator=generator_or_default(generator))[:size].sort().values


def correct_by_check(noise: LabelNoise, posterior: Tensor, labels: Tensor, answers: Mapping[int, int]) -> Checked:
    """Correct rate, interval and probabilities by what a person said about a random sample.

    Args:
        noise: The noise as estimated from the labels.
        posterior: Probabilities ``(n, k)`` of the true labels.
        labels: Given labels ``(n,)``, as they were before the check.
        answers: Place of each checked sample to its true class; the places come from :func:`check_sample`.

    Returns:
        The corrected noise and probabilities.

    Raises:
        InputError: If there is no answer, or one is about no sample or names no class.

    Example:
        >>> labels = torch.arange(1000) % 2
        >>> posterior = torch.nn.functional.one_hot(labels, 2).double() * 0.9 + 0.05
        >>> noise = LabelNoise(0.05, (0.0, 0.1), torch.eye(2), 1.0, torch.zeros(2), 1000)
        >>> places = check_sample(1000, 50).tolist()
        >>> answers = {i: int(labels[i]) if j % 5 else 1 - int(labels[i]) for j, i in enumerate(places)}
        >>> print(correct_by_check(noise, posterior, labels, answers).text)
        Of 50 labels checked at random 10 are wrong: 20.6% of all labels, between 10.8% and 32.6%.
    """
    n, k = posterior.shape
    if not answers:
        raise InputError("a check needs answers, got none; look at the samples that check_sample draws")
    for place, named in answers.items():
        if not (0 <= place < n and 0 <= named < k):
            raise InputError(
                f"an answer must be about a sample in 0..{n - 1} and a class in 0..{k - 1}, got {place}: {named}"
            )
    places = torch.tensor(sorted(answers))
    told = torch.tensor([answers[int(place)] for place in places])
    wrong = (told != labels[places]).to(torch.float64)
    found, asked = int(wrong.sum()), len(places)
    before = 1.0 - posterior.gather(1, labels[:, None])[:, 0]
    after = _corrected(before, before[places], wrong)
    shape = (found + 0.5, asked - found + 0.5)  # of the beta law of the rate
    low, high = (betaincinv(*shape, tail) for tail in ((1 - _LEVEL) / 2, (1 + _LEVEL) / 2))
    # If none (or all) of the answers say wrong, nothing speaks against a rate of exactly 0 (or 1).
    interval = (0.0 if found == 0 else float(low), 1.0 if found == asked else float(high))
    after[places] = wrong
    believed = _moved(posterior, labels, before, after)
    believed[places] = torch.nn.functional.one_hot(told, k).to(believed)
    return Checked(replace(noise, rate=shape[0] / sum(shape), interval=interval), believed, after, asked, found)


def _moved(posterior: Tensor, labels: Tensor, before: Tensor, after: Tensor) -> Tensor:
    """Give the given labels their corrected probabilities; the other classes keep their shares of the rest."""
    k = posterior.shape[1]
    given = torch.nn.functional.one_hot(labels, k).to(posterior)
    others = posterior * (1 - given) / before.clamp(min=_EDGE)[:, None]
    # A label that was certain leaves no shares to go by; its doubt is then spread evenly.
    even = (1 - given) / (k - 1)
    others = torch.where((before > _EDGE)[:, None], others, even)
    return others * after[:, None] + given * (1 - after)[:, None]


def _logit(share: Tensor) -> Tensor:
    inside = share.clamp(_EDGE, 1 - _EDGE)
    return inside.log() - (-inside).log1p()


def _corrected(everyone: Tensor, asked: Tensor, wrong: Tensor) -> Tensor:
    """Return corrected probabilities ``(n,)``: by a line, or by the curve that the answers allow."""
    line = _recalibrated(everyone, asked, wrong)
    if len(asked) < _FEWEST_FOR_CURVE:
        return line
    by_line, by_curve = torch.empty_like(asked), torch.empty_like(asked)
    fold = torch.arange(len(asked)) % _CURVE_FOLDS
    for number in range(_CURVE_FOLDS):
        out, seen = fold == number, fold != number
        by_line[out] = _recalibrated(asked[out], asked[seen], wrong[seen])
        by_curve[out] = _curve(asked[out], asked[seen], wrong[seen])
    likely = [float(torch.nn.functional.binary_cross_entropy(each, wrong)) for each in (by_line, by_curve)]
    return line if likely[0] <= likely[1] else _curve(everyone, asked, wrong)


def _curve(everyone: Tensor, asked: Tensor, wrong: Tensor) -> Tensor:
    """Return probabilities ``(n,)`` by isotonic regression of the answers, drawn towards the line."""
    from sklearn.isotonic import IsotonicRegression

    line = _recalibrated(asked, asked, wrong)
    drawn = (wrong + _PULL_TO_LINE * line) / (1 + _PULL_TO_LINE)
    model = IsotonicRegression(y_min=_EDGE, y_max=1 - _EDGE, out_of_bounds="clip").fit(asked.numpy(), drawn.numpy())
    return torch.from_numpy(model.predict(everyone.numpy())).to(everyone)


def _recalibrated(everyone: Tensor, asked: Tensor, wrong: Tensor) -> Tensor:
    """Return corrected probabilities ``(n,)``: logistic regression with priors, by Newton's method."""
    x = _logit(asked)
    design = torch.stack([torch.ones_like(x), x], dim=1)
    prior = torch.tensor([0.0, 1.0], dtype=x.dtype)
    precision = torch.diag(torch.tensor([_SHIFT_PRECISION, _SLOPE_PRECISION], dtype=x.dtype))
    value = prior.clone()

    def objective(now: Tensor) -> float:
        z = design @ now
        fit = wrong @ z - torch.nn.functional.softplus(z).sum()
        return float(fit - 0.5 * (now - prior) @ precision @ (now - prior))

    for _ in range(_MOST_STEPS):
        p = torch.sigmoid(design @ value)
        slope = design.T @ (wrong - p) - precision @ (value - prior)
        curvature = design.T @ (design * (p * (1 - p))[:, None]) + precision
        step, size, here = torch.linalg.solve(curvature, slope), 1.0, objective(value)
        while size > 1e-6 and objective(value + size * step) < here:
            size /= 2
        value = value + size * step
        if float(step.abs().max()) < 1e-9:
            break
    value[1] = value[1].clamp(min=0.0)  # answers never turn the ranking round
    return torch.sigmoid(value[0] + value[1] * _logit(everyone))

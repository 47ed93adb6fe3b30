r"""Can anything be known? An exact test whether held-out labels are predicted better than without looking.

Two ways of predicting without looking are beaten, or not:

*The largest class.* Always naming it is right for a share :math:`\pi_{\max}` of the labels. Among the samples for which
judge and largest class disagree, the label is now the one, now the other; were the judge no better, its share of these
would be a coin's, so the number of its successes has a binomial law with probability 1/2 (McNemar's test, exact).

*The classes' shares.* If one class is nearly everything, no judge beats naming it, although rare classes may be known
well. So each class's logit is lifted by its rarity, :math:`\ell_j - \log \pi_j`, and the hits are compared with a
binomial law of probability :math:`\sum_j \hat\pi_j \pi_j`, what predictions with the same shares hit by chance.

Both laws hold exactly if labels have nothing to do with features and the predictions were made without the labels of
any of these samples; then something can be known if either test has p < 0.005: together, they err once in a hundred
times. Predictions by leaving out one sample or a fold share labels, and err more often; :func:`judge_vectors` therefore
asks again by halves unless the answer is beyond doubt.
"""

from __future__ import annotations

import torch
from scipy.special import bdtrc
from torch import Tensor

__all__ = ["LEVEL", "SYSTEMATIC", "chance", "knowable", "nothing_known", "p_value"]

LEVEL = 0.01
"""Probability of saying that something can be known when nothing can."""

SYSTEMATIC = (
    "Mistakes that annotators make systematically, for one kind of sample, cannot be seen from labels alone; "
    "checking a random sample shows them."
)
"""What no judge can know, in a sentence for people."""


def knowable(logits: Tensor, labels: Tensor) -> bool:
    """Tell whether out-of-sample logits predict the given labels better than without looking, by an exact test.

    Args:
        logits: Log-probabilities ``(n, k)`` of models that did not see the sample's label.
        labels: Given labels ``(n,)``.

    Returns:
        False if the labels may as well be random: then no label can be judged.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> y = torch.randint(3, (500,), generator=generator)
        >>> said = torch.randn(500, 3, generator=generator)
        >>> knowable(said, y), knowable(said + torch.nn.functional.one_hot(y, 3), y)
        (False, True)
    """
    return p_value(logits, labels) < LEVEL


def p_value(logits: Tensor, labels: Tensor) -> float:
    """Return the p-value of the two tests together (twice the smaller one, at most 1).

    Args:
        logits: Log-probabilities ``(n, k)`` of models that did not see the sample's label.
        labels: Given labels ``(n,)``.
    """
    sizes = labels.bincount(minlength=logits.shape[1])
    largest = int(sizes.argmax())
    predicted = logits.argmax(dim=1)
    differ = predicted != largest
    won, lost = int((predicted == labels)[differ].sum()), int((labels == largest)[differ].sum())
    first = _as_many(won, won + lost, 0.5)
    shares = sizes.to(torch.float64) / len(labels)
    # A class that nobody has cannot be hit; it must not be lifted above all others.
    lifted = (logits - shares.log()).masked_fill(sizes == 0, -torch.inf).argmax(dim=1)
    by_chance = float(lifted.bincount(minlength=len(sizes)).to(torch.float64) / len(labels) @ shares)
    hits = int((lifted == labels).sum())
    second = _as_many(hits, len(labels), by_chance)
    return min(1.0, 2.0 * min(first, second))


def _as_many(hits: int, tries: int, by_chance: float) -> float:
    """Return the probability of that many hits or more by chance: the binomial test."""
    return float(bdtrc(hits - 1, tries, by_chance)) if hits and by_chance < 1 else 1.0


def chance(labels: Tensor) -> float:
    """Return the share of the largest class: how often one is right without looking.

    Example:
        >>> chance(torch.tensor([0, 1, 1, 1]))
        0.75
    """
    return float(labels.bincount().max() / len(labels))


def nothing_known(accuracy: float, labels: Tensor) -> str:
    """Say that nothing can be known about labels.

    Args:
        accuracy: Share of the held-out labels that are predicted.
        labels: Given labels ``(n,)``.

    Returns:
        A few sentences for people.

    Example:
        >>> print(nothing_known(0.5, torch.tensor([0, 1, 1, 1]))[:37])
        Nothing can be said about these label
    """
    return (
        f"Nothing can be said about these labels: held-out labels are predicted no better than by always naming the "
        f"largest class ({accuracy:.1%} against {chance(labels):.1%}). Either the features say nothing about the "
        f"classes or the labels are random. No label is flagged, and no noise rate is estimated."
    )

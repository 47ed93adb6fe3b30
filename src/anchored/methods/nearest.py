"""The most similar samples, and their votes: what the method and the judge ``neighbours`` share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from anchored.ridge import as_targets, fit_sharpness, log_likelihood

__all__ = ["Chosen", "choose_votes", "find_nearest", "most_similar", "spaces_of", "votes_of"]

COUNTS = (5, 10, 20, 40, 80)
WIDTHS = (math.inf, 0.2, 0.07)
_PRIOR = 1.0
"""Weight of the classes' shares, in neighbours."""
_BLOCK_NUMBERS = 2**24


def spaces_of(variances: Tensor) -> list[Tensor]:
    r"""Return what coordinates along principal axes are multiplied by, in each space where neighbours are searched.

    With the deviations :math:`\sigma` along the axes, the first space is the features as they are, the second half
    whitened, :math:`\operatorname{diag}(\sigma)^{-1/2}`: large directions count for less, small ones for more.

    Args:
        variances: ``(m,)`` along the axes.

    Returns:
        Factors ``(m,)`` for each space.
    """
    return [torch.ones_like(variances), variances.pow(-0.25)]


def most_similar(
    rows: Tensor, queries: Tensor, among: Tensor, copies: Tensor | None, count: int
) -> tuple[Tensor, Tensor]:
    """Find the neighbours of some samples among others, without themselves and their exact copies.

    Args:
        rows: Unit vectors ``(n, m)`` of all samples, whose products are cosines.
        queries: Places of the samples whose neighbours are searched.
        among: Places of the samples that may be neighbours.
        copies: Group ``(n,)`` of each sample, equal for exact copies; None if there are none.
        count: How many.

    Returns:
        Places and cosines, the most similar first. If a sample has fewer neighbours, the rest have the cosine -inf.
    """
    everyone = len(among) == len(rows)  # in order: then nothing has to be gathered
    similarity = rows[queries] @ (rows if everyone else rows[among]).T
    if copies is None and everyone:
        similarity[torch.arange(len(queries)), queries] = -math.inf
    else:
        same = queries[:, None] == among if copies is None else copies[queries][:, None] == copies[among]
        similarity.masked_fill_(same, -math.inf)
    near, place = similarity.topk(min(count, len(among)), dim=1)
    found = among[place]
    if len(among) < count:
        missing = count - len(among)
        near = torch.nn.functional.pad(near, (0, missing), value=-math.inf)
        found = torch.nn.functional.pad(found, (0, missing), value=0)
    return found, near


def find_nearest(rows: Tensor, copies: Tensor | None, count: int, asked: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Find the neighbours of samples among all others, exactly, a block of rows at a time.

    Args:
        rows: As for :func:`most_similar`.
        copies: As for :func:`most_similar`.
        count: How many.
        asked: Places of the samples whose neighbours are searched; None for all of them.

    Returns:
        As :func:`most_similar`.

    Example:
        >>> rows = torch.nn.functional.normalize(torch.tensor([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]]), dim=1)
        >>> find_nearest(rows, None, 1)[0].tolist()
        [[1], [0], [1]]
    """
    everyone = torch.arange(len(rows))
    blocks = torch.split(everyone if asked is None else asked, max(1, _BLOCK_NUMBERS // len(rows)))
    index, similarity = zip(*(most_similar(rows, block, everyone, copies, count) for block in blocks), strict=True)
    return torch.cat(index), torch.cat(similarity)


def votes_of(
    labels: Tensor, weights: Tensor, shares: Tensor, similarity: Tensor, inverse_width: float | Tensor
) -> Tensor:
    r"""Count the votes of neighbours.

    .. math::  p_j = \frac{a \pi_j + \sum_l s_l c_l [y_l = j]}{a + \sum_l s_l c_l}, \qquad s_l = e^{(\cos_l - 1)/\tau}

    up to its denominator, with a = 1; without a width all neighbours count the same.

    Args:
        labels: The neighbours' classes ``(b, m)``.
        weights: How much they count ``(b, m)``.
        shares: The classes' shares ``(k,)``, of the same type.
        similarity: Their cosines ``(b, m)``; -inf for no neighbour.
        inverse_width: One over the width tau; 0 for none.

    Returns:
        Log-votes ``(b, k)``.

    Example:
        >>> one = torch.ones(1, 3, dtype=torch.float64)
        >>> shares = torch.full((2,), 0.5, dtype=torch.float64)
        >>> votes_of(torch.tensor([[0, 0, 1]]), one, shares, one, 0.0).exp()
        tensor([[2.5000, 1.5000]], dtype=torch.float64)
    """
    # exp((s - 1) * 0) is 1, but for a missing neighbour -inf * 0 is no number.
    near = ((similarity.to(weights.dtype) - 1.0) * inverse_width).exp()
    near = torch.where(torch.isfinite(similarity), near, 0.0)
    votes = _PRIOR * shares.expand(labels.shape[0], -1)
    return votes.scatter_add(1, labels, weights * near).log()


@dataclass(frozen=True, eq=False)
class Chosen:
    """How neighbours vote best.

    Attributes:
        space: Number of the space in which they are searched.
        count: How many vote.
        width: How fast votes fall with the distance; infinite if they do not.
        sharpness: What log-votes are multiplied by to be calibrated.
    """

    space: int
    count: int
    width: float
    sharpness: float


def choose_votes(
    spaces: Sequence[Tensor],
    search: Callable[[Tensor, int], tuple[Tensor, Tensor]],
    vote: Callable[[Tensor, Tensor, float], Tensor],
    labels: Tensor,
    weights: Tensor,
    k: int,
) -> Chosen | None:
    """Choose space, number and width under which given labels are likeliest.

    Args:
        spaces: Unit rows of each space.
        search: From the rows of a space and a number to neighbours and cosines of the samples that are scored.
        vote: From neighbours, cosines and a width to log-votes of those samples.
        labels: Their given labels ``(b,)``.
        weights: How much they count ``(b,)``.
        k: Number of classes.

    Returns:
        The choice; None if no vote tells classes apart.
    """
    most = min(max(COUNTS), len(spaces[0]) - 1) if spaces else 0
    targets = as_targets(labels.numpy(), k)
    each = weights.numpy() if bool(weights.any()) else np.ones(len(labels))
    best, found = -math.inf, None
    for number, rows in enumerate(spaces):
        index, similarity = search(rows, most)
        sharp: float | None = None
        for width in WIDTHS:
            for count in sorted({min(count, most) for count in COUNTS}):
                votes = vote(index[:, :count], similarity[:, :count], width).numpy()
                votes = votes - votes.mean(axis=1, keepdims=True)
                sharp = fit_sharpness(votes, targets, each, start=sharp)
                score = log_likelihood(sharp * votes, targets, each)
                if score > best:
                    best, found = score, Chosen(number, count, width, sharp)
    return found

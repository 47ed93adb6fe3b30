r"""Judge ``neighbours``: the labels of the most similar samples, leave-one-out.

.. math::  p(j \mid x_i) =
           \frac{a \pi_j + \sum_{l \in N_m(i)} s_{il}\, c_l\, P_{lj}}{a + \sum_{l \in N_m(i)} s_{il}\, c_l},
           \qquad s_{il} = e^{(\cos(x_i, x_l) - 1)/\tau},

where :math:`N_m(i)` are the m most similar samples by the cosine of standardised or of half whitened features, neither
the sample itself nor an exact copy of it among them, P their labels, and :math:`\pi` the classes' shares. The number m
and the width tau (or no width: all m count the same) are those under which the given labels are likeliest,
and so is the choice between the two spaces (:func:`spaces`).

Up to 30,000 samples the search is exact, a block of rows at a time. Above that it is approximate: features are
projected onto at most 64 random directions, k-means puts the samples into cells, and each sample is compared with
those of the eight nearest cells.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from anchored._progress import Work
from anchored._random import stream
from anchored.audit.judges.base import Vectors
from anchored.methods.nearest import choose_votes, find_nearest, most_similar, spaces_of, votes_of

__all__ = ["nearest", "neighbours", "spaces"]

_BLOCK_NUMBERS = 2**24
_EXACT = 30_000
_DIRECTIONS, _CELLS_ASKED, _ROUNDS = 64, 8, 8
_MOST_SCORED = 4_000
"""Samples on which number, width and space are chosen."""


def neighbours(vectors: Vectors) -> Tensor:
    """Judge by the labels of the nearest neighbours.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> y = torch.arange(300) % 3
        >>> X = 3 * torch.eye(3)[y] + torch.randn(300, 3, generator=generator)
        >>> bool((neighbours(Vectors.check(X, y, 3)).argmax(dim=1) == y).double().mean() > 0.85)
        True
    """
    shares = vectors.learnt.T @ vectors.each
    shares = (shares + 1.0) / (shares.sum() + vectors.k)
    part = torch.arange(0, len(vectors), max(1, -(-len(vectors) // _MOST_SCORED)))
    both = spaces(vectors)

    def vote(index: Tensor, similarity: Tensor, width: float) -> Tensor:
        return _votes(vectors, index, similarity, width, shares)

    # Space, number and width are chosen on a part of the samples; only the best space is searched for all of them.
    chosen = choose_votes(
        both,
        lambda rows, count: nearest(vectors, count, rows, part),
        vote,
        vectors.labels[part],
        vectors.each[part],
        vectors.k,
    )
    if chosen is None:  # all rows are copies of one another, or no feature varies
        return shares.log().expand(len(vectors), -1).clone()
    index, similarity = nearest(vectors, chosen.count, both[chosen.space])
    blocks = zip(torch.split(index, _block(vectors)), torch.split(similarity, _block(vectors)), strict=True)
    return torch.cat([vote(places, near, chosen.width) for places, near in blocks])


def spaces(vectors: Vectors) -> list[Tensor]:
    """Return the spaces in which neighbours are searched: standardised features, and the same half whitened.

    Above 256 columns both are cut off after the 256 largest principal axes.

    Args:
        vectors: The samples.

    Returns:
        Unit rows ``(n, m)``, float32, for each space.
    """
    if not vectors.standardised.shape[1]:
        return []
    variances, rotated = vectors.principal
    return [torch.nn.functional.normalize(rotated * factor, dim=1) for factor in spaces_of(variances)]


def _block(vectors: Vectors) -> int:
    return max(1, _BLOCK_NUMBERS // vectors.k)


def _votes(vectors: Vectors, index: Tensor, similarity: Tensor, width: float, shares: Tensor) -> Tensor:
    """Return log-votes ``(b, k)`` of neighbours ``(b, m)``; a similarity of -inf is no neighbour."""
    return votes_of(vectors.labels[index], vectors.each[index], shares, similarity, 1.0 / width)


def nearest(vectors: Vectors, count: int, rows: Tensor, part: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Find the most similar samples of each sample, without itself and its exact copies.

    Args:
        vectors: The samples.
        count: How many.
        rows: Unit vectors ``(n, m)`` of the samples, whose products are cosines.
        part: Places of the samples whose neighbours are searched, among all; None for all of them.

    Returns:
        Places ``(n, count)`` and cosines ``(n, count)``, the most similar first. If a sample has fewer neighbours, the
        rest have the cosine -inf.
    """
    if len(vectors) <= _EXACT or (part is not None and len(part) * len(vectors) <= _EXACT**2):
        return find_nearest(rows, vectors.copies, count, part)
    return _approximate(rows, vectors.copies, count, stream(vectors.seed, "neighbours"), part)


def _approximate(
    rows: Tensor, copies: Tensor | None, count: int, generator: torch.Generator, part: Tensor | None
) -> tuple[Tensor, Tensor]:
    n, d = rows.shape
    if d > _DIRECTIONS:
        directions = torch.randn(d, _DIRECTIONS, generator=generator) / math.sqrt(_DIRECTIONS)
        rows = torch.nn.functional.normalize(
            torch.cat([block @ directions for block in torch.split(rows, 2**16)]), dim=1
        )
    cells = max(1, min(round(math.sqrt(n)), n // 100))
    centres = _k_means(rows, cells, generator)
    asked = min(_CELLS_ASKED, cells)
    near_cells = torch.cat([(block @ centres.T).topk(asked, dim=1).indices for block in torch.split(rows, 2**14)])
    home = near_cells[:, 0]
    order = home.argsort(stable=True)
    sizes = home.bincount(minlength=cells)
    members = torch.split(order, sizes.tolist())
    asking = torch.ones(n, dtype=torch.bool) if part is None else torch.zeros(n, dtype=torch.bool)
    if part is not None:
        asking[part] = True
    index = torch.zeros(n, count, dtype=torch.int64)
    similarity = torch.full((n, count), -math.inf)
    around = (centres @ centres.T).topk(asked, dim=1).indices
    work = Work("searching neighbours", int(asking.sum()))
    for cell in range(cells):
        mine = members[cell][asking[members[cell]]]
        if not len(mine):
            continue
        among = torch.cat([members[int(other)] for other in around[cell]])
        for queries in torch.split(mine, max(1, _BLOCK_NUMBERS // max(len(among), 1))):
            index[queries], similarity[queries] = most_similar(rows, queries, among, copies, count)
            work.step(len(queries))
    return (index, similarity) if part is None else (index[part], similarity[part])


def _k_means(rows: Tensor, cells: int, generator: torch.Generator) -> Tensor:
    """Return unit centres ``(cells, d)`` of spherical k-means, found on a random part of the rows."""
    part = rows[torch.randperm(len(rows), generator=generator)[: max(cells, min(len(rows), 64 * cells))]]
    centres = part[:cells].clone()
    for _ in range(_ROUNDS):
        home = torch.cat([(block @ centres.T).argmax(dim=1) for block in torch.split(part, 2**14)])
        sums = torch.zeros_like(centres).index_add_(0, home, part)
        empty = sums.norm(dim=1) == 0
        sums[empty] = centres[empty]
        centres = torch.nn.functional.normalize(sums, dim=1)
    return centres

"""Nearly the same input under different labels: at least one of them is wrong, whatever a model thinks.

Nearness is measured between inputs, not features: a good network moves all samples of a class to one place. Images are
shrunk to 8 x 8 pixels per channel, columns of vectors have their spread divided out, and two samples are near when
they are closer than a tenth of the usual distance between a sample and its nearest neighbour.

Memory grows with n, never with n squared: a row is kept as its sixteen largest principal components, in which distances
can only shrink, so that a tree search in them misses nothing; the few pairs it finds are then measured in full.

A tree takes time that grows almost with n squared. Above 50,000 samples pairs are therefore looked for in grids: rows
are turned at random, and two that fall into one cell are compared. A pair at the largest distance that counts is
missed by one grid with a certain probability; so many grids are laid that fewer than one in a thousand is missed.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from scipy.spatial import cKDTree
from torch import Tensor

from anchored._random import generator_or_default
from anchored.data import Dataset

__all__ = ["NearDuplicates", "near_duplicates"]

_SIDE, _COMPONENTS = 8, 16
_SAMPLE, _BLOCK = 4_000, 2_000
_CLOSE = 0.1
_MOST_PAIRS = 200_000
_MOST_GROUPS = 10_000
_MOST_LOOKED_AT, _LOOKS_PER_SAMPLE = 20_000_000, 40
_TREE_LIMIT, _BLOCKS_TOLD = 50_000, 50
_CELL, _SMALLEST_CELL, _MISSED = 4.0, 1.5, 1e-3
"""Width of a cell, as a multiple of the largest distance that counts, and its least; which share may be missed."""


@dataclass(frozen=True)
class NearDuplicates:
    """Samples that look alike and are labelled differently.

    Attributes:
        indices: Their places in the data set, in order.
        labels: Their labels, in the same order.
        distance: The largest distance between two that were linked, as a share of the usual one; 0 for copies.
    """

    indices: tuple[int, ...]
    labels: tuple[int, ...]
    distance: float


def near_duplicates(
    dataset: Dataset,
    *,
    close: float = _CLOSE,
    generator: torch.Generator | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> list[NearDuplicates]:
    """Find near-duplicates whose labels differ.

    Args:
        dataset: The data to search; samples without a label are left out.
        close: What is near, as a share of the median distance to the nearest neighbour.
        generator: Draws the samples that the usual distance is measured on.
        say: Is told how far a long search is.

    Returns:
        Groups of samples, nearest first; at most 10,000.

    Example:
        >>> from anchored.data import TensorInputs
        >>> rows = torch.randn(50, 4, generator=torch.Generator().manual_seed(0))
        >>> rows[7] = rows[31]
        >>> data = Dataset("toy", TensorInputs(rows), torch.arange(50) % 2 * 1, ("a", "b"))
        >>> near_duplicates(data.with_labels(torch.arange(50) // 25))
        [NearDuplicates(indices=(7, 31), labels=(0, 1), distance=0.0)]
    """
    index = (dataset.labels >= 0).nonzero()[:, 0]
    if len(index) < 2:
        return []
    generator = generator_or_default(generator)
    sample = index[torch.randperm(len(index), generator=generator)[:_SAMPLE]]
    spread, centre, axes = _axes(dataset, sample)
    first: dict[bytes, int] = {}
    copies: dict[int, list[int]] = defaultdict(list)
    kept: list[npt.NDArray[np.float32]] = []
    places: list[int] = []
    for number, block in enumerate(torch.split(index, _BLOCK)):
        if number and number % _BLOCKS_TOLD == 0:
            say(f"near-duplicates: {number * _BLOCK:,} of {len(index):,} samples read")
        rows = _rows(dataset, block) / spread
        short = ((rows - centre) @ axes).numpy()
        for place, row, vector in zip(block.tolist(), rows.numpy(), short, strict=True):
            digest = hashlib.blake2b(row.tobytes(), digest_size=16).digest()
            original = first.setdefault(digest, place)
            if original != place:
                copies[original].append(place)
            else:
                kept.append(vector)
                places.append(place)
    usual = _usual_distance(dataset, sample, spread)
    links = [(a, b, 0.0) for a, others in copies.items() for b in others]
    if usual > 0 and len(kept) > 1:
        find = _tree_pairs if len(kept) <= _TREE_LIMIT else _grid_pairs
        short = np.stack(kept)
        kept.clear()
        pairs, limit = find(short, close * usual, say)
        measured = _measured(dataset, pairs, torch.tensor(places), spread, limit)
        links += [(a, b, distance / usual) for a, b, distance in measured]
    return _groups(links, dataset.labels)


def _rows(dataset: Dataset, index: Tensor) -> Tensor:
    """Inputs ``(b, p)`` as small float vectors."""
    rows = dataset.inputs.take(index).float()
    if rows.ndim == 4:
        side = (min(_SIDE, rows.shape[2]), min(_SIDE, rows.shape[3]))
        rows = F.adaptive_avg_pool2d(rows, side).flatten(1)
    return rows


def _axes(dataset: Dataset, sample: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The spread ``(p,)`` of each coordinate, the centre of the rows, and their principal axes ``(p, m)``."""
    rows = torch.cat([_rows(dataset, block) for block in torch.split(sample, _BLOCK)])
    if dataset.is_image:
        spread = torch.ones(rows.shape[1])  # pixels share one unit, and an edge that is always black carries nothing
    else:
        spread = rows.std(dim=0)
        spread = torch.where(spread > 0, spread, 1.0)
    rows = rows / spread
    centre = rows.mean(dim=0)
    values, vectors = torch.linalg.eigh((rows - centre).T @ (rows - centre))
    return spread, centre, vectors[:, values.argsort(descending=True)[:_COMPONENTS]]


def _usual_distance(dataset: Dataset, sample: Tensor, spread: Tensor) -> float:
    """The median distance to the nearest neighbour that is not a copy, within the sample."""
    rows = torch.cat([_rows(dataset, block) for block in torch.split(sample, _BLOCK)]) / spread
    nearest = []
    for block in torch.split(rows, _BLOCK // 4):
        distance = torch.cdist(block, rows, compute_mode="donot_use_mm_for_euclid_dist")
        nearest.append(distance.masked_fill_(distance == 0, float("inf")).amin(dim=1))
    found = torch.cat(nearest)
    found = found[torch.isfinite(found)]
    return float(found.median()) if len(found) else 0.0


def _tree_pairs(
    short: npt.NDArray[np.float32], limit: float, _say: Callable[[str], None]
) -> tuple[npt.NDArray[np.int64], float]:
    """All pairs ``(m, 2)`` within ``limit``, and the limit, which is less if there would be too many."""
    tree = cKDTree(short)
    while tree.count_neighbors(tree, limit) - len(short) > 2 * _MOST_PAIRS:
        limit /= 2  # a cloud of samples that are all alike: the nearest of them will do
    return tree.query_pairs(limit, output_type="ndarray").astype(np.int64), limit


def _grid_pairs(
    short: npt.NDArray[np.float32], limit: float, say: Callable[[str], None]
) -> tuple[npt.NDArray[np.int64], float]:
    r"""Almost all pairs ``(m, 2)`` within ``limit``, by grids; and the limit, which is less if there would be too many.

    Two rows whose difference along axis i is :math:`\delta_i` share a cell of width w with probability
    :math:`\prod_i (1 - |\delta_i| / w)`. For a pair at distance r along D axes that are turned at random,
    :math:`|\delta_i| \approx r / \sqrt D`.
    """
    chance = generator_or_default(None)
    n, dims = short.shape
    most = max(_MOST_LOOKED_AT, _LOOKS_PER_SAMPLE * n)
    found: npt.NDArray[np.int64] = np.empty((0, 2), dtype=np.int64)
    number, cell, grids = 0, _CELL, _grids(_CELL, dims)
    while number < grids:
        turn = torch.linalg.qr(torch.randn(dims, dims, generator=chance)).Q.numpy()
        shift = torch.rand(dims, generator=chance).numpy()
        cells: npt.NDArray[np.float32] = np.floor(short @ turn / np.float32(cell * limit) + shift)
        mixed = torch.randint(1, 2**62, (dims,), generator=chance).numpy()
        pairs = _near_in_one_cell(short, cells.astype(np.int64) @ mixed, limit, most)
        if pairs is None and cell > _SMALLEST_CELL:
            number, cell = 0, cell * 0.75  # smaller cells, and more grids
            grids = _grids(cell, dims)
            continue
        if pairs is not None:
            found = np.unique(np.concatenate([found, pairs]), axis=0)
        if pairs is None or len(found) > _MOST_PAIRS:
            number, limit, found = 0, limit / 2, found[:0]  # a cloud of samples that are all alike: the nearest will do
            continue
        number += 1
        say(f"near-duplicates: {number} of {grids} searches among {n:,} samples")
    return found, limit


def _grids(cell: float, dims: int) -> int:
    """How many grids find all but a thousandth of the pairs at the largest distance that counts."""
    together = (1 - 1 / (cell * math.sqrt(dims))) ** dims
    return max(4, math.ceil(math.log(_MISSED) / math.log1p(-together)))


def _near_in_one_cell(
    short: npt.NDArray[np.float32], codes: npt.NDArray[np.int64], limit: float, most: int
) -> npt.NDArray[np.int64] | None:
    """Pairs that share a code and are within ``limit``; None if more than ``most`` would have to be looked at."""
    order = np.argsort(codes, kind="stable")
    ranked = codes[order]
    starts = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
    sizes = np.diff(np.concatenate([starts, [len(ranked)]]))
    if float((sizes.astype(np.float64) * (sizes - 1) / 2).sum()) > most:
        return None
    last = np.repeat(starts + sizes, sizes)
    parts = [np.empty((0, 2), dtype=np.int64)]
    left = np.flatnonzero(last - np.arange(len(ranked)) > 1)
    for step in range(1, int(sizes.max())):
        # Every sample with the one that stands ``step`` places after it in the same cell.
        left = left[left + step < last[left]]
        for first in np.array_split(left, len(left) // 2**20 + 1):
            one, other = order[first], order[first + step]
            near = np.linalg.norm(short[one] - short[other], axis=1) <= limit
            parts.append(np.stack([one[near], other[near]], axis=1))
    pairs = np.concatenate(parts)
    pairs.sort(axis=1)
    return pairs


def _measured(
    dataset: Dataset, near: npt.NDArray[np.int64], place: Tensor, spread: Tensor, limit: float
) -> list[tuple[int, int, float]]:
    """Those of the pairs that are labelled differently and near in full, with their distances."""
    pairs = torch.from_numpy(near)
    labels = dataset.labels[place]
    # Only what is labelled differently matters; a chain over a third sample of one of the two labels is not needed.
    pairs = pairs[labels[pairs[:, 0]] != labels[pairs[:, 1]]]
    found = []
    for part in torch.split(place[pairs], _BLOCK):
        if len(part):
            gap = _rows(dataset, part[:, 0]) / spread - _rows(dataset, part[:, 1]) / spread
            for (a, b), distance in zip(part.tolist(), gap.norm(dim=1).tolist(), strict=True):
                if distance <= limit:
                    found.append((a, b, distance))
    return found


def _groups(links: list[tuple[int, int, float]], labels: Tensor) -> list[NearDuplicates]:
    """The connected samples, as far as they hold different labels."""
    parent: dict[int, int] = {}

    def root(i: int) -> int:
        parent.setdefault(i, i)
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for a, b, _ in links:
        parent[root(a)] = root(b)
    members: dict[int, list[int]] = defaultdict(list)
    for i in parent:
        members[root(i)].append(i)
    farthest: dict[int, float] = defaultdict(float)
    for a, _, distance in links:
        farthest[root(a)] = max(farthest[root(a)], distance)
    groups = []
    for top, group in members.items():
        group.sort()
        given = tuple(int(labels[i]) for i in group)
        if len(set(given)) > 1:
            groups.append(NearDuplicates(tuple(group), given, round(farthest[top], 6)))
    return sorted(groups, key=lambda group: (group.distance, group.indices))[:_MOST_GROUPS]

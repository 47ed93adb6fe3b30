"""A bounded sample of the rows, on which strength, width and temperature are chosen.

The sample keeps the rows with the smallest keys (:func:`anchored.ridge.copies.row_keys`). Which rows these are depends
on their content only, not on order, chunks or machines: samples of parts merge into the sample of the whole. Copies of
a row are kept as one row with their weight and their mean target. Up to the bound the sample is all of the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from anchored.ridge.copies import Keys
from anchored.ridge.rows import Array
from anchored.ridge.sums import Targets

__all__ = ["Sample", "sample_size"]

_ENTRIES, _FEWEST, _MOST = 5_000_000, 2_000, 10_000


def sample_size(k: int) -> int:
    """Return how many rows a sample keeps for ``k`` classes: 10,000, and fewer above 500 classes.

    Example:
        >>> sample_size(10), sample_size(1_000), sample_size(100_000)
        (10000, 5000, 2000)
    """
    return max(_FEWEST, min(_MOST, _ENTRIES // k))


@dataclass(frozen=True, eq=False)
class Sample:
    """Distinct rows in the order of their keys.

    Attributes:
        keys: ``(m,)``, ascending.
        rows: Features ``(m, d)``, float64.
        targets: Mean class probabilities ``(m, k)`` of each row's copies, CSR.
        weights: ``(m,)``, the weight of all copies together.
        size: The most rows that are kept.
    """

    keys: Keys
    rows: Array
    targets: Targets
    weights: Array
    size: int

    @classmethod
    def of(cls, keys: Keys, rows: Array, targets: Targets, weights: Array | None, size: int) -> Sample:
        """Sample one chunk.

        Args:
            keys: ``(n,)`` keys of the rows.
            rows: ``(n, d)`` features.
            targets: ``(n, k)`` class probabilities, CSR.
            weights: ``(n,)`` weights; None for one each.
            size: The most rows to keep.

        Returns:
            The rows with the ``size`` smallest keys, copies joined.

        Example:
            >>> from anchored.ridge.sums import as_targets
            >>> keys, X = np.array([5, 2, 5], dtype=np.uint64), np.array([[1.0], [4.0], [1.0]])
            >>> sample = Sample.of(keys, X, as_targets(np.array([0, 1, 1]), 2), None, size=10)
            >>> sample.rows.ravel().tolist(), sample.weights.tolist(), sample.targets.toarray()[1].tolist()
            ([4.0, 1.0], [1.0, 2.0], [0.5, 0.5])
        """
        distinct, first, group = np.unique(keys, return_index=True, return_inverse=True)
        kept = group < size
        each = np.ones(len(keys)) if weights is None else weights
        count = min(size, len(distinct))
        total = np.bincount(group[kept], weights=each[kept], minlength=count).astype(np.float64)
        share = each[kept] / total[group[kept]]
        join = scipy.sparse.csr_matrix((share, (group[kept], np.flatnonzero(kept))), shape=(count, len(keys)))
        joined = (join @ targets).tocsr()
        joined.sort_indices()
        return cls(distinct[:size], np.ascontiguousarray(rows[first[:size]]), joined, total, size)

    def merge(self, other: Sample) -> Sample:
        """Return the sample of both parts together.

        Args:
            other: Sample of other rows, of the same size.
        """
        if len(self.keys) == self.size:
            near = other.keys <= self.keys[-1]
            other = Sample(other.keys[near], other.rows[near], other.targets[near], other.weights[near], other.size)
        if not len(other.keys):
            return self
        return Sample.of(
            np.concatenate([self.keys, other.keys]),
            np.concatenate([self.rows, other.rows]),
            scipy.sparse.vstack([self.targets, other.targets], format="csr"),
            np.concatenate([self.weights, other.weights]),
            self.size,
        )

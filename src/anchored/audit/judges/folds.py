"""Folds for judges that must be trained again without a sample: balanced over the labels, copies kept together."""

from __future__ import annotations

import torch
from torch import Tensor

from anchored._random import stream
from anchored.audit.judges.base import Vectors

__all__ = ["folds_of"]


def folds_of(vectors: Vectors, count: int) -> Tensor:
    """Return the fold of each sample ``(n,)``, in 0..count-1.

    The samples of each class are dealt out in random order, so that every fold has its share of every class. Exact
    copies of a row get the fold of the first of them, whatever their labels.

    Args:
        vectors: The samples.
        count: Number of folds.

    Returns:
        Folds ``(n,)``, int64, the same for the same seed.

    Example:
        >>> rows = Vectors.check(torch.arange(12.0)[:, None], torch.arange(12) % 3, 3)
        >>> fold = folds_of(rows, 2)
        >>> [int((rows.labels[fold == f] == 0).sum()) for f in (0, 1)]
        [2, 2]
    """
    order = torch.randperm(len(vectors), generator=stream(vectors.seed, "judge folds", count))
    order = order[vectors.labels[order].argsort(stable=True)]
    fold = torch.empty(len(vectors), dtype=torch.int64)
    fold[order] = torch.arange(len(vectors)) % count
    if vectors.copies is not None:
        first = torch.full((int(vectors.copies.max()) + 1,), len(vectors))
        first.scatter_reduce_(0, vectors.copies, torch.arange(len(vectors)), "amin")
        fold = fold[first[vectors.copies]]
    return fold

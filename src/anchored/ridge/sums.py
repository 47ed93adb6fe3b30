r"""Everything that least squares needs to know of the data is a few sums, and sums can be added.

With weights :math:`c_i`, :math:`N = \sum_i c_i`, class probabilities :math:`P_i` (one-hot for an ordinary label) and
the mean :math:`\mu = \frac1N\sum_i c_i x_i`,

.. math::  S = \sum_i c_i (x_i - \mu)(x_i - \mu)^\top, \qquad n_c = \sum_i c_i P_{ic}, \qquad
           T_c = \sum_i c_i P_{ic}\,(x_i - \mu).

The targets' side :math:`X^\top W_y` is :math:`T^\top W`: the classes' sums times the anchors, so the work per sample
does not grow with the number of classes. Two sets of sums are merged about their common mean (Chan, Golub and LeVeque),
never by subtracting large squares: a column of 1e8 plus small numbers keeps its digits.

References:
    Chan, Golub and LeVeque, 1983. Algorithms for Computing the Sample Variance. The American Statistician.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from anchored._errors import InputError
from anchored.ridge.rows import Array

__all__ = ["Sums", "Targets", "as_targets", "entries_of"]

Targets = Any
"""Class probabilities ``(n, k)`` as a scipy CSR matrix; rows of ordinary labels have one entry."""


def as_targets(labels: npt.NDArray[np.generic], k: int) -> Targets:
    """Return labels ``(n,)`` or probabilities ``(n, k)`` as a sparse matrix of class probabilities.

    Args:
        labels: Class numbers in 0..k-1, or rows of probabilities that sum to one.
        k: Number of classes.

    Returns:
        A CSR matrix ``(n, k)`` in float64.

    Raises:
        InputError: If a label is no class or a row is no distribution.

    Example:
        >>> as_targets(np.array([1, 0]), 3).toarray().tolist()
        [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """
    if labels.ndim == 2:
        if labels.shape[1] != k:
            raise InputError(f"rows of class probabilities must have k={k} entries, got {labels.shape[1]}")
        values = labels.astype(np.float64)
        if not (np.isfinite(values).all() and (values >= 0).all() and np.allclose(values.sum(axis=1), 1, atol=1e-4)):
            raise InputError("rows of class probabilities must be non-negative and sum to 1; softmax or normalise them")
        return scipy.sparse.csr_matrix(values / values.sum(axis=1, keepdims=True))
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise InputError(
            f"labels must be (n,) class numbers or (n, k) probabilities, got {labels.dtype} {labels.shape}"
        )
    if len(labels) and (int(labels.min()) < 0 or int(labels.max()) >= k):
        raise InputError(f"labels must be in 0..{k - 1}, got values from {labels.min()} to {labels.max()}")
    n = len(labels)
    return scipy.sparse.csr_matrix((np.ones(n), labels.astype(np.int64), np.arange(n + 1)), shape=(n, k))


def entries_of(targets: Targets) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Array]:
    """Return the rows, classes and probabilities of all entries of ``targets``, row by row.

    Example:
        >>> rows, classes, shares = entries_of(as_targets(np.array([2, 0]), 3))
        >>> rows.tolist(), classes.tolist(), shares.tolist()
        ([0, 1], [2, 0], [1.0, 1.0])
    """
    n = targets.shape[0]
    rows = np.arange(n)
    if targets.nnz != n or not np.array_equal(targets.indptr, np.arange(n + 1)):
        rows = np.repeat(rows, np.diff(targets.indptr))
    return rows, targets.indices, targets.data


@dataclass(frozen=True, eq=False)
class Sums:
    """The sums of a part of the data.

    Attributes:
        rows: Number of samples.
        weight: Their weight N.
        mean: Weighted mean ``(d,)`` of the features.
        scatter: ``(d, d)``, the products about the mean, S above.
        class_weights: ``(k,)``, the weight of each class.
        class_sums: ``(k, d)``, the classes' sums about the mean, T above.
    """

    rows: int
    weight: float
    mean: Array
    scatter: Array
    class_weights: Array
    class_sums: Array

    @property
    def k(self) -> int:
        """Number of classes."""
        return len(self.class_weights)

    @property
    def d(self) -> int:
        """Number of features."""
        return len(self.mean)

    @classmethod
    def of(cls, chunk: Array, targets: Targets, weights: Array | None = None) -> Sums:
        """Sum one chunk.

        Args:
            chunk: Features ``(n, d)`` in float64.
            targets: Class probabilities ``(n, k)`` from :func:`as_targets`.
            weights: ``(n,)`` positive weights; None for one each.

        Returns:
            The sums of the chunk.

        Raises:
            InputError: If the numbers are too large for their squares.

        Example:
            >>> part = Sums.of(np.array([[1.0], [3.0]]), as_targets(np.array([0, 1]), 2))
            >>> part.mean.tolist(), part.scatter.tolist(), part.class_sums.tolist()
            ([2.0], [[2.0]], [[-1.0], [1.0]])
        """
        n = len(chunk)
        if weights is None:
            weight, mean = float(n), chunk.mean(axis=0)
        else:
            weight = float(weights.sum())
            mean = weights @ chunk / weight
        centred = chunk - mean
        # The mean is rounded: what is left over matters where a column is large and varies little.
        rest = centred.mean(axis=0) if weights is None else weights @ centred / weight
        mean, centred = mean + rest, np.subtract(centred, rest, out=centred)
        by_class = targets.T.tocsr() if weights is None else targets.T.tocsr().multiply(weights).tocsr()
        class_weights = np.asarray(by_class.sum(axis=1)).ravel()
        class_sums = by_class @ centred
        if weights is not None:
            centred *= np.sqrt(weights)[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            scatter = centred.T @ centred
        if not np.isfinite(np.trace(scatter)):
            raise InputError("X holds numbers whose squares exceed the range of float64; divide its columns first")
        return cls(n, weight, mean, scatter, class_weights, class_sums)

    def merge(self, other: Sums) -> Sums:
        r"""Return the sums of both parts together, :math:`S = S_a + S_b + \frac{N_a N_b}{N}\,\delta\delta^\top`.

        Args:
            other: Sums of other samples, with the same features and classes.

        Raises:
            InputError: If the number of features or classes differs.

        Example:
            >>> X, P = np.array([[1.0], [3.0], [8.0]]), as_targets(np.array([0, 1, 1]), 2)
            >>> both = Sums.of(X[:2], P[:2]).merge(Sums.of(X[2:], P[2:]))
            >>> bool(np.allclose(both.scatter, Sums.of(X, P).scatter))
            True
        """
        _check_alike(self, other)
        weight = self.weight + other.weight
        apart = other.mean - self.mean
        mean = self.mean + apart * (other.weight / weight)
        scatter = self.scatter + other.scatter
        scatter += np.outer(apart * (self.weight * other.weight / weight), apart)
        return Sums(
            self.rows + other.rows,
            weight,
            mean,
            scatter,
            self.class_weights + other.class_weights,
            _about(self, mean) + _about(other, mean),
        )

    def subtract(self, part: Sums) -> Sums:
        """Return the sums without the samples of ``part``, which must be among them.

        Args:
            part: Sums of samples that were added before.

        Raises:
            InputError: If the parts do not fit, or nothing would be left.

        Example:
            >>> X, P = np.array([[1.0], [3.0], [8.0]]), as_targets(np.array([0, 1, 1]), 2)
            >>> left = Sums.of(X, P).subtract(Sums.of(X[2:], P[2:]))
            >>> bool(np.allclose(left.scatter, Sums.of(X[:2], P[:2]).scatter)), left.rows
            (True, 2)
        """
        _check_alike(self, part)
        weight = self.weight - part.weight
        if self.rows <= part.rows or weight <= 0:
            raise InputError(
                f"cannot take {part.rows} rows from {self.rows}: some must be left; start a new model instead"
            )
        mean = self.mean + (self.mean - part.mean) * (part.weight / weight)
        apart = part.mean - mean
        scatter = self.scatter - part.scatter
        scatter -= np.outer(apart * (weight * part.weight / self.weight), apart)
        return Sums(
            self.rows - part.rows,
            weight,
            mean,
            scatter,
            np.maximum(self.class_weights - part.class_weights, 0.0),
            _about(self, mean) - _about(part, mean),
        )


def _about(sums: Sums, mean: Array) -> Array:
    """Return the classes' sums about another mean."""
    return sums.class_sums + np.outer(sums.class_weights, sums.mean - mean)


def _check_alike(one: Sums, other: Sums) -> None:
    if one.d != other.d:
        raise InputError(f"cannot join data of {one.d} features with data of {other.d}; give the same columns")
    if one.k != other.k:
        raise InputError(f"cannot join data of {one.k} classes with data of {other.k}; give the same list of classes")

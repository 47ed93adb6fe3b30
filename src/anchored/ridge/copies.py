r"""Rows that are exact copies of each other are found by a 64-bit key of their bits.

A sample that occurs twice would vouch for its own label when only one of the two is left out. So copies are left out
together, and a sample of weight w is exactly the same as w copies of it.

.. math::  \operatorname{key}(x) = \operatorname{mix}\Bigl(\sum_j c_j\, u_j \bmod 2^{64}\Bigr),

where :math:`u_j` are the folded bits of :math:`x_j` and :math:`c_j` fixed odd numbers. The rows with the smallest keys
are also a random sample that depends neither on order nor on chunks (:mod:`anchored.ridge.sample`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anchored.ridge.rows import Array

__all__ = ["Keys", "groups_of", "row_keys"]

Keys = npt.NDArray[np.uint64]

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def _mix(words: Keys) -> Keys:
    """Apply the finaliser of splitmix64."""
    words = (words ^ (words >> np.uint64(30))) * _MIX_1
    words = (words ^ (words >> np.uint64(27))) * _MIX_2
    return words ^ (words >> np.uint64(31))


def row_keys(chunk: Array) -> Keys:
    """Return a 64-bit key of each row: equal for equal rows, different for different ones but for chance (2^-64).

    Args:
        chunk: ``(n, d)`` float64 without negative zeros, as :meth:`anchored.ridge.rows.Rows.read` returns it.

    Example:
        >>> keys = row_keys(np.array([[1.0, 2.0], [1.0, 2.5], [1.0, 2.0]]))
        >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
        (True, False)
    """
    words = np.ascontiguousarray(chunk).view(np.uint64)
    words = words ^ (words >> np.uint64(32))  # numbers that were float32 once have empty low bits
    odd = _mix(np.arange(1, chunk.shape[1] + 1, dtype=np.uint64) * _GAMMA) | np.uint64(1)
    return _mix(words @ odd + _GAMMA)


def groups_of(keys: Keys) -> npt.NDArray[np.int64] | None:
    """Number the groups of equal keys.

    Returns:
        The group ``(n,)`` of each row, or None if no two keys are equal.

    Example:
        >>> groups_of(np.array([7, 3, 7], dtype=np.uint64)).tolist()
        [1, 0, 1]
        >>> groups_of(np.array([7, 3], dtype=np.uint64)) is None
        True
    """
    distinct, group = np.unique(keys, return_inverse=True)
    return None if len(distinct) == len(keys) else group.astype(np.int64)

"""Rows of features from memory: a matrix that is read a chunk at a time, in float64.

The numerics of this package see data only through :class:`Rows`, so an array in memory and a file that is larger than
memory take the same road (:mod:`anchored.ridge.stream` has the files).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from anchored._errors import InputError

__all__ = ["Array", "ArrayRows", "Rows", "check_finite"]

Array = npt.NDArray[np.float64]

_CHUNK_NUMBERS = 2**23
"""Numbers in a chunk: 64 megabytes in float64."""
_FEWEST_ROWS = 256


class Rows(ABC):
    """A matrix ``(n, d)`` that can be read in parts.

    Attributes:
        n: Number of rows.
        d: Number of columns.
        name: What messages call the matrix.
    """

    n: int
    d: int
    name: str = "X"

    @abstractmethod
    def read(self, start: int, stop: int) -> Array:
        """Read the rows from ``start`` to ``stop`` (exclusive).

        Args:
            start: First row.
            stop: Row after the last one.

        Returns:
            A new array ``(stop - start, d)`` in float64, finite, which the caller may change.

        Raises:
            InputError: If a number is NaN or infinite.
        """

    def chunk_rows(self, width: int = 0) -> int:
        """Return how many rows fit a chunk, if ``width`` further numbers per row are needed at the same time."""
        return max(_FEWEST_ROWS, _CHUNK_NUMBERS // max(self.d, width, 1))

    def spans(self, width: int = 0) -> Iterator[tuple[int, int]]:
        """Yield ``(start, stop)`` of the chunks, in order."""
        step = self.chunk_rows(width)
        for start in range(0, self.n, step):
            yield start, min(self.n, start + step)


class ArrayRows(Rows):
    """Rows of an array in memory.

    Args:
        values: ``(n, d)`` numbers of any real type.
        name: What messages call the array.

    Example:
        >>> rows = ArrayRows(np.arange(6).reshape(3, 2))
        >>> rows.n, rows.read(1, 3).tolist()
        (3, [[2.0, 3.0], [4.0, 5.0]])
    """

    def __init__(self, values: npt.NDArray[np.generic], name: str = "X") -> None:
        if values.ndim != 2:
            raise InputError(f"{name} must be a matrix (n, d) of features, got shape {values.shape}; reshape it")
        self.values, self.name = values, name
        self.n, self.d = values.shape

    def read(self, start: int, stop: int) -> Array:
        """Copy rows as float64; arguments as :meth:`Rows.read`."""
        # Adding 0.0 turns -0.0 into 0.0, so that equal rows have equal bits.
        return check_finite(np.add(self.values[start:stop], 0.0, dtype=np.float64), self.name, start)


def check_finite(chunk: Array, name: str, start: int) -> Array:
    """Return the chunk, or refuse it with the place of its first NaN or infinity.

    Args:
        chunk: ``(m, d)``.
        name: What messages call the matrix.
        start: Number of the chunk's first row in the whole matrix.

    Raises:
        InputError: If a number is NaN or infinite.
    """
    # The sum is finite unless a number is not (or the sum overflows): one pass without a mask, then the rare slow look.
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(chunk.sum())
    if suspicious:
        bad = np.argwhere(~np.isfinite(chunk))
        if len(bad):
            row, column = bad[0].tolist()
            raise InputError(
                f"{name} must be finite, got {chunk[row, column]} in row {start + row}, column {column}; "
                f"fill or drop such rows first"
            )
    return chunk

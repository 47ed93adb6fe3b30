"""Small computations on one thread: sharing them out costs more than they do, and many times more beside other work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

__all__ = ["one_thread_if_small"]

_SMALL = 2**20
"""Numbers in an array, up to which one thread computes on it."""


@contextmanager
def one_thread_if_small(numbers: int) -> Iterator[None]:
    """Let torch compute on one thread within the block if its arrays are small.

    Each operation on several threads waits for the last of them. If another program holds a core, that is as long as
    the system lets the other program go on, for each of the thousands of steps of a search.

    Args:
        numbers: How many numbers the largest array has.

    Example:
        >>> with one_thread_if_small(100):
        ...     torch.get_num_threads()
        1
    """
    threads = torch.get_num_threads()
    if numbers > _SMALL or threads == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)

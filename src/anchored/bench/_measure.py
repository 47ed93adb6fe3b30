"""The result of a benchmark, and the two measurements it is made of: seconds and peak memory."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

__all__ = ["Result", "peak_bytes", "seconds"]


@dataclass(frozen=True)
class Result:
    """Table of a benchmark: one row per thing measured."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float | None, ...], ...]
    note: str = ""
    facts: dict[str, float | str | bool] = field(default_factory=dict)
    """Further numbers for ``--json``."""
    more: tuple[Result, ...] = ()
    """Further tables."""


def seconds(functions: Sequence[Callable[[], object]], *, repeats: int = 5, warmup: int = 1) -> list[float]:
    """Measure the median time of each function, in seconds.

    The functions take turns, so that a slow spell of the machine falls on all of them alike.

    Args:
        functions: Functions without arguments.
        repeats: Number of measured calls of each.
        warmup: Number of calls of each before that.

    Returns:
        The medians, in the order of ``functions``.

    Example:
        >>> calls = []
        >>> len(seconds([lambda: calls.append("a"), lambda: calls.append("b")], repeats=1)), calls
        (2, ['a', 'b', 'a', 'b'])
    """
    for _ in range(warmup):
        for function in functions:
            function()
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(repeats):
        for function, record in zip(functions, times, strict=True):
            start = time.perf_counter()
            function()
            record.append(time.perf_counter() - start)
    return [statistics.median(record) for record in times]


def peak_bytes(function: Callable[[], object]) -> int:
    """Measure the most memory that tensors made by ``function`` hold at one moment, in bytes."""
    from torch.profiler import ProfilerActivity, profile

    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # or it reports every start and stop on stderr
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        function()
    held = peak = 0
    for event in sorted(_memory_events(record), key=lambda item: item[0]):
        held += event[1]
        peak = max(peak, held)
    return peak


def _memory_events(record: object) -> list[tuple[int, int]]:
    events = record.profiler.kineto_results.events()  # type: ignore[attr-defined]
    return [(event.start_ns(), event.nbytes()) for event in events if event.name() == "[memory]"]

"""Losses against ``F.cross_entropy``: forward and backward, time and peak memory as ratios.

Many classes are the hard case: at (4096, 10000) one tensor of logits is 164 megabytes, and a loss is
as fast as the number of times it goes through that much memory.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from anchored import losses
from anchored.bench._measure import Result, peak_bytes, seconds

__all__ = ["LIMITS", "run"]

LIMITS: dict[str, float] = {
    "ce": 1.3,
    "fl": 1.3,
    "gce": 1.3,
    "sce": 1.3,
    "mae": 1.3,
    "rce": 1.3,
    "nce+mae": 2.5,
    "nce+rce": 2.5,
    "nfl+rce": 2.5,
    "ngce+mae": 2.5,
}
"""Loss to the longest time that it may take, in units of cross entropy."""

MEMORY_LIMIT = 2.0


def run(n: int = 4096, k: int = 10_000, repeats: int = 7) -> Result:
    """Measure time and peak memory of one step of each loss, on float32 logits ``(n, k)``.

    Args:
        n: Number of samples.
        k: Number of classes.
        repeats: Number of measured steps of each loss; the median counts.

    Returns:
        One row per loss, as ratios to cross entropy.

    Example:
        >>> [row[0] for row in run(8, 3, repeats=1).rows][:3]
        ['F.cross_entropy', 'ce', 'fl']
    """
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(n, k, generator=generator).requires_grad_()
    target = torch.randint(k, (n,), generator=generator)
    contenders: list[Callable[[Tensor, Tensor], Tensor]] = [F.cross_entropy, *map(losses.get, LIMITS)]
    steps = [_step(loss, logits, target) for loss in contenders]
    times = seconds(steps, repeats=repeats)
    memory = [peak_bytes(step) for step in steps]
    rows: list[tuple[str | float | None, ...]] = [("F.cross_entropy", 1.0, None, 1.0, None, None)]
    for (name, limit), time, space in zip(LIMITS.items(), times[1:], memory[1:], strict=True):
        slower, larger = time / times[0], space / memory[0]
        within = slower <= limit and larger <= MEMORY_LIMIT
        rows.append((name, slower, limit, larger, MEMORY_LIMIT, "yes" if within else "no"))
    return Result(
        title=f"Losses: forward and backward at ({n}, {k}), in units of F.cross_entropy",
        columns=("loss", "time", "at most", "memory", "at most", "within"),
        rows=tuple(rows),
        note=f"F.cross_entropy: {times[0]:.3f} s, {memory[0] / 1e6:.0f} MB; {torch.get_num_threads()} threads",
        facts={
            "cross_entropy_seconds": times[0],
            "cross_entropy_bytes": memory[0],
            "threads": torch.get_num_threads(),
            "all_within": all(row[-1] != "no" for row in rows),
        },
    )


def _step(loss: Callable[[Tensor, Tensor], Tensor], logits: Tensor, target: Tensor) -> Callable[[], None]:
    def step() -> None:
        logits.grad = None
        loss(logits, target).backward()  # type: ignore[no-untyped-call]  # torch leaves backward untyped
        logits.grad = None

    return step

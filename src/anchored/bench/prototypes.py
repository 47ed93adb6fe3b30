"""Prototypes: the closed form against the paper's generator, and two sizes that must be fast enough."""

from __future__ import annotations

from time import perf_counter

import torch

from anchored.bench._measure import Result, seconds
from anchored.prototypes import packing, paper, quality, simplex

__all__ = ["run"]


def run(
    *, paper_steps: int = 20_000, large: tuple[int, int] = (1000, 2048), code: tuple[int, int] = (1000, 256)
) -> Result:
    """Time and measure each generator.

    Args:
        paper_steps: Steps of the paper's generator at (10, 128). One period of its learning rate by default; the paper
            takes five, so the ratio for its 100,000 steps is five times as large.
        large: k and d of the large closed form, to be built in under 2 s.
        code: k and d of the numerical packing, to be found in under 60 s.

    Returns:
        One row per generator and size.

    Example:
        >>> result = run(paper_steps=2, large=(5, 6), code=(6, 3))
        >>> result.rows[0][0], result.facts["closed_form_gram_error"] < 1e-6
        ('closed form (10, 128)', True)
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the fastest setting for matrices this small
    try:
        start = perf_counter()
        published = paper(10, 128, steps=paper_steps)
        paper_seconds = perf_counter() - start
    finally:
        torch.set_num_threads(threads)
    small_seconds, large_seconds = seconds([lambda: simplex(10, 128), lambda: simplex(*large)], repeats=5)
    closed, wide, exact = simplex(10, 128), simplex(*large), simplex(*large, dtype=torch.float64)
    start = perf_counter()
    packed = packing(*code)
    code_seconds = perf_counter() - start

    sets = [
        ("closed form (10, 128)", small_seconds, 1.0, closed),
        (f"paper (10, 128), {paper_steps} steps", paper_seconds, paper_seconds / small_seconds, published),
        (f"closed form {large}", large_seconds, None, wide),
        (f"closed form {large}, float64", None, None, exact),
        (f"packing {code}", code_seconds, None, packed),
    ]
    measured = [(name, time, ratio, quality(w)) for name, time, ratio, w in sets]
    return Result(
        title="prototypes",
        columns=("what", "seconds", "ratio", "Gram error", "smallest angle"),
        rows=tuple((name, time, ratio, q.gram_error, q.min_angle_degrees) for name, time, ratio, q in measured),
        note=f"asked: closed form {large} in under 2 s, packing {code} in under 60 s. For k > d + 1 the Gram error is "
        "the distance from Rankin's bound, which is out of reach for k > 2d.",
        facts={
            "paper_over_closed_form": paper_seconds / small_seconds,
            "closed_form_gram_error": measured[0][3].gram_error,
            "paper_gram_error": measured[1][3].gram_error,
            "large_seconds": large_seconds,
            "large_gram_error": measured[2][3].gram_error,
            "large_gram_error_float64": measured[3][3].gram_error,
            "packing_seconds": code_seconds,
            "packing_min_angle_degrees": measured[4][3].min_angle_degrees,
        },
    )

"""Benchmarks: ratios measured in one run, because machines are noisy and ratios are not."""

from anchored.bench._measure import Result, peak_bytes, seconds

__all__ = ["BENCHMARKS", "Result", "peak_bytes", "seconds"]

BENCHMARKS = {
    "prototypes": "anchored.bench.prototypes",
    "losses": "anchored.bench.losses",
    "training": "anchored.bench.training",
    "estimator": "anchored.bench.estimator",
}
"""Name to module; each module has a function ``run() -> Result``."""

"""Benchmarks: ratios measured within one run, because times differ between machines more than ratios do."""

from anchored.bench._measure import Result, peak_bytes, seconds

__all__ = ["BENCHMARKS", "LONG", "Result", "peak_bytes", "seconds"]

BENCHMARKS = {
    "prototypes": "anchored.bench.prototypes",
    "losses": "anchored.bench.losses",
    "training": "anchored.bench.training",
    "estimator": "anchored.bench.estimator",
    "encode": "anchored.bench.encode",
    "encoding": "anchored.bench.encoding",
    "raw-tables": "anchored.bench.raw_tables",
    "photos": "anchored.bench.photos",
    "audit": "anchored.bench.audit",
    "noisy-accuracy": "anchored.bench.noisy_accuracy",
    "auto": "anchored.bench.auto",
    "ridge": "anchored.bench.ridge",
    "tables": "anchored.bench.tables",
}
"""Name to module; each module has a function ``run() -> Result`` whose arguments are optional."""
LONG = ("photos", "audit", "noisy-accuracy", "auto", "ridge", "tables", "raw-tables")
"""Benchmarks that take many minutes: they run only if they are named, and take a ``tell`` for progress."""

"""Benchmarks: ratios measured in one run, because machines are noisy and ratios are not."""

from anchored.bench._measure import Result, peak_bytes, seconds

__all__ = ["BENCHMARKS", "LONG", "Result", "peak_bytes", "seconds"]

BENCHMARKS = {
    "prototypes": "anchored.bench.prototypes",
    "losses": "anchored.bench.losses",
    "training": "anchored.bench.training",
    "estimator": "anchored.bench.estimator",
    "encode": "anchored.bench.encode",
    "encoding": "anchored.bench.encoding",
    "audit": "anchored.bench.audit",
    "auto": "anchored.bench.auto",
    "ridge": "anchored.bench.ridge",
    "tables": "anchored.bench.tables",
}
"""Name to module; each has a function ``run() -> Result``, of which all arguments are optional and by keyword."""
LONG = ("audit", "auto", "ridge", "tables")
"""Those that take many minutes: they are run only when they are named, and take a ``tell`` for their rows."""

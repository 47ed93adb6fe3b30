"""A comparison as CSV: one line per method, length, precision, cell and measure, for further work."""

from __future__ import annotations

import csv
import io

from anchored.paper.comparison import Comparison

__all__ = ["COLUMNS", "to_csv"]

COLUMNS = (
    "table",
    "method",
    "cell",
    "measure",
    "epochs",
    "precision",
    "evaluate_every",
    "seeds",
    "mean",
    "std",
    "other_epoch_mean",
    "published_mean",
    "published_std",
    "difference",
    "inside",
    "note",
)
"""``epochs`` is empty for full runs; ``other_epoch_mean`` is the last epoch if the table prints the best."""


def to_csv(comparison: Comparison) -> str:
    """Write the comparison as CSV with a heading.

    Example:
        >>> from anchored.paper import TABLES, compare
        >>> print(to_csv(compare(TABLES["weight_decay"], [], cells=["5e-4"])).splitlines()[1])
        weight_decay,ce,5e-4,accuracy,,32,1,0,,,,40.49,,,,
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for line in comparison.lines:
        for (cell, measure), entry in line.entries.items():
            other = sum(entry.other) / len(entry.other) if entry.other else None
            writer.writerow(
                [
                    comparison.table.name,
                    line.row,
                    cell,
                    measure,
                    line.epochs,
                    line.precision,
                    line.evaluate_every,
                    len(entry.values),
                    *map(_rounded, (entry.mean, entry.std, other)),
                    None if entry.published is None else entry.published.mean,
                    None if entry.published is None else entry.published.std,
                    _rounded(entry.difference),
                    {True: "yes", False: "no", None: ""}[entry.inside],
                    "" if entry.published is None else entry.published.note,
                ]
            )
    return out.getvalue()


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)

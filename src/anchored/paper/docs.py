"""The page of results in the documentation, made from the records and from nothing else.

``anchored paper docs`` writes it; a test makes it again and compares.
"""

from __future__ import annotations

from importlib import import_module
from inspect import cleandoc
from statistics import median
from textwrap import fill

from anchored.paper.comparison import Comparison, compare
from anchored.paper.formats import to_markdown
from anchored.paper.names import TABLES
from anchored.paper.results import Record, Results
from anchored.paper.table import Table

__all__ = ["results_page"]

_HEAD = """# Results

Every number of ours on this page comes from a record in `results/`, and the page is made from them by
`anchored paper docs`. Ours are the mean and the sample standard deviation over the seeds; one number is one seed.
Cells that were not run are left out; `anchored paper compare TABLE` shows them all.
"""


def results_page(results: Results) -> str:
    """Write the page as Markdown: for every table its claim, its cost, and the numbers of the runs that were made."""
    parts = [_HEAD]
    for table in TABLES.values():
        comparison = compare(table, results.read(table.name), only_run=True)
        parts.append(f"## `{table.name}`\n\n{table.claim}\n\n{_about(table)}\n")
        parts.append(_numbers(comparison) if comparison.lines else "Nothing of it was run yet.\n")
    return "\n".join(parts)


def _about(table: Table) -> str:
    """The cost of the table, from its file."""
    lines = cleandoc(import_module(f"anchored.paper.tables.{table.name}").__doc__ or "").splitlines()
    start = lines.index("Cost") + 1
    end = next((i for i in range(start, len(lines)) if lines[i] and not lines[i].startswith(" ")), len(lines))
    cost = " ".join(line.strip() for line in lines[start:end]).strip()
    return fill(f"Cost: {cost.replace('``', '`')}", 120, break_long_words=False, break_on_hyphens=False)


def _numbers(comparison: Comparison) -> str:
    runs = len(comparison.records)
    pace = median(record["seconds"] / _epochs(record) for record in comparison.records)
    seconds = f"{pace:.0f}" if pace >= 10 else f"{pace:.1f}"
    return (
        f"{runs} {'run' if runs == 1 else 'runs'}, {seconds} seconds per epoch (median).\n\n{to_markdown(comparison)}"
    )


def _epochs(record: Record) -> int:
    """How many epochs the time of a record is for, those of a second stage included; at least one."""
    return len(record["history"].get("train_loss", ())) or int(record["epochs"]) or 1

r"""Our numbers beside the published ones, cell by cell.

Ours are the mean over the seeds and the sample standard deviation :math:`s` (n - 1 in the denominator, as the
references compute it). A published mean is over three runs. The difference is *inside the uncertainty* when

.. math::  |\bar x - \bar x_\text{paper}| \;\le\; 2 \sqrt{\frac{s^2}{n} + \frac{s_\text{paper}^2}{3}},

and a standard deviation that is not known (one seed; not printed) is taken to be the other one. If neither is known,
nothing is said.

A run of another length or precision than the published recipe, or one whose test set was not scored after every epoch,
is never mixed with full ones: it makes a line of its own. Records whose settings are no longer those of the catalogue
are left out and counted.
"""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from anchored._errors import InputError
from anchored._names import suggest
from anchored.paper.published import Published
from anchored.paper.results import Record, evaluate_every_of, precision_of
from anchored.paper.table import RECIPE_PRECISION, Job, Row, Table

__all__ = ["BEST", "FULL", "MEASURES", "Comparison", "Entry", "Line", "compare", "variant"]

PAPER_RUNS = 3

MEASURES = {
    "accuracy": "accuracy",
    "best": "best epoch",
    "many": "many",
    "medium": "medium",
    "few": "few",
    "ece": "ECE calibrated",
    "ece_uncalibrated": "ECE raw",
    "noise_drawn": "labels wrong",
    "noise_estimated": "estimated",
}
"""Headings of the measures."""

BEST = "best"
"""The accuracy of the best epoch, a measure of tables that print the last and the best."""

FULL = (0, RECIPE_PRECISION, 1)
"""The variant of a run that the published numbers belong to; see :func:`variant`."""


@dataclass(frozen=True)
class Entry:
    """One number of a table, in percent.

    Attributes:
        values: Our numbers, one per seed.
        other: Our numbers at the other epoch: at the last if the table prints the best, at the best if it prints the
            last.
        published: The paper's number, if there is one and the runs are those of the published recipe.

    Example:
        >>> entry = Entry((79.0, 80.0, 78.0), (), Published(79.23, 0.87))
        >>> entry.mean, entry.std, round(entry.difference, 2), entry.inside
        (79.0, 1.0, -0.23, True)
    """

    values: tuple[float, ...]
    other: tuple[float, ...] = ()
    published: Published | None = None

    @property
    def mean(self) -> float | None:
        """Mean over the seeds; None without runs."""
        return fmean(self.values) if self.values else None

    @property
    def std(self) -> float | None:
        """Sample standard deviation; None for fewer than two seeds."""
        return stdev(self.values) if len(self.values) > 1 else None

    @property
    def difference(self) -> float | None:
        """Our mean less the published one; None if one of them is missing."""
        return None if self.mean is None or self.published is None else self.mean - self.published.mean

    @property
    def inside(self) -> bool | None:
        r"""Whether the difference is inside the uncertainty; None if that is unknown.

        .. math::  |\bar x - \bar x_\text{paper}| \;\le\; 2 \sqrt{\frac{s^2}{n} + \frac{s_\text{paper}^2}{3}}
        """
        if self.difference is None or self.published is None:
            return None
        known = [std for std in (self.std, self.published.std) if std is not None]
        if not known:
            return None
        ours, theirs = known[0], known[-1]
        error = math.sqrt(ours**2 / len(self.values) + theirs**2 / PAPER_RUNS)
        return abs(self.difference) <= 2 * error


@dataclass(frozen=True)
class Line:
    """A method of one length and precision: its entries by cell and measure.

    Attributes:
        row: Name of the row in the catalogue.
        title: Name as printed.
        epochs: Length of shortened runs; None for full ones.
        entries: Numbers by cell and measure; missing ones are not in it.
        precision: Precision of the runs.
        evaluate_every: Epochs between two scores of the test set.
    """

    row: str
    title: str
    epochs: int | None
    entries: dict[tuple[str, str], Entry]
    precision: str = RECIPE_PRECISION
    evaluate_every: int = 1

    @property
    def variant(self) -> tuple[int, str, int]:
        """Length, precision and epochs between scores, as :func:`variant` gives them for a record."""
        return self.epochs or 0, self.precision, self.evaluate_every

    @property
    def run(self) -> bool:
        """Whether at least one run of the line was made."""
        return any(entry.values for entry in self.entries.values())


@dataclass(frozen=True)
class Comparison:
    """A table with our numbers in it.

    Attributes:
        table: The table.
        columns: Cells and measures, in order.
        lines: Methods, those of the paper first; shortened runs after the full ones of the same method.
        notes: Remarks that a reader needs.
        records: The records behind the numbers.
    """

    table: Table
    columns: tuple[tuple[str, str], ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...]
    records: tuple[Record, ...]

    def heading(self, column: tuple[str, str]) -> str:
        """Return the heading of a column, which is a cell and a measure."""
        cell, measure = column
        title = self.table.cell(cell).title
        if len(self.table.measures) == 1:
            return title
        name = MEASURES.get(measure, measure)
        return name if len({c for c, _ in self.columns}) == 1 else f"{title}, {name}"

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        entries = [
            {
                "method": line.row,
                "cell": cell,
                "measure": measure,
                "shortened_to": line.epochs,
                "precision": line.precision,
                "evaluate_every": line.evaluate_every,
                "values": list(entry.values),
                "mean": entry.mean,
                "std": entry.std,
                "published": None if entry.published is None else entry.published.mean,
                "published_std": None if entry.published is None else entry.published.std,
                "difference": entry.difference,
                "inside": entry.inside,
            }
            for line in self.lines
            for (cell, measure), entry in line.entries.items()
        ]
        return {"table": self.table.name, "epoch": self.table.epoch, "entries": entries, "notes": list(self.notes)}


def compare(
    table: Table,
    records: Sequence[Record],
    *,
    cells: Sequence[str] = (),
    only_run: bool = False,
) -> Comparison:
    """Put the records of ``table`` beside the published numbers.

    Args:
        table: The table.
        records: Its records, as :meth:`anchored.paper.Results.read` gives them.
        cells: Names or patterns of cells; all by default.
        only_run: Leave out the rows and columns in which nothing was run.

    Returns:
        Lines with our numbers and the published ones.

    Raises:
        InputError: If a name in ``cells`` fits no cell.

    Example:
        >>> from anchored.paper import TABLES
        >>> comparison = compare(TABLES["weight_decay"], [])
        >>> comparison.lines[0].title, comparison.lines[0].entries["5e-4", "accuracy"].published.mean
        ('CE', 40.49)
    """
    usable, others = _current(table, records)
    chosen = _cells(table, cells)
    columns = [(cell, measure) for cell in chosen for measure in table.measures]
    if only_run:
        there = {record["cell"] for record in usable}
        columns = [column for column in columns if column[0] in there]
    lines = [line for line in _lines(table, usable, columns) if (line.run if only_run else line.entries)]
    return Comparison(table, tuple(columns), tuple(lines), _notes(table, lines, others), tuple(usable))


def _current(table: Table, records: Sequence[Record]) -> tuple[list[Record], int]:
    """The records that the catalogue would make again, and how many others there are."""
    rows, cells = {row.name for row in table.rows}, {cell.name for cell in table.cells}
    usable = [
        record
        for record in records
        if record["row"] in rows and record["cell"] in cells and _again(table, record).key == record["key"]
    ]
    return usable, len(records) - len(usable)


def _again(table: Table, record: Record) -> Job:
    """The job that the catalogue makes of what ``record`` says it is."""
    row, cell, seed, epochs = (record[name] for name in ("row", "cell", "seed", "epochs"))
    every = evaluate_every_of(record)
    return table.job(row, cell, seed=seed, epochs=epochs, precision=precision_of(record), evaluate_every=every)


def _cells(table: Table, asked: Sequence[str]) -> list[str]:
    known = [cell.name for cell in table.cells]
    found: set[str] = set()
    for name in asked:
        matches = fnmatch.filter(known, name.strip().lower())
        if not matches:
            raise InputError(f"unknown cell of table {table.name}: {name!r}; {suggest(name, known)}")
        found.update(matches)
    return [name for name in known if not asked or name in found]


def _lines(table: Table, records: Sequence[Record], columns: Sequence[tuple[str, str]]) -> list[Line]:
    lines = []
    for row in table.rows:
        alike: dict[tuple[int, str, int], list[Record]] = {FULL: []}
        for record in records:
            if record["row"] == row.name:
                alike.setdefault(variant(record), []).append(record)
        for kind, of_a_kind in sorted(alike.items()):
            (epochs, precision, every), full = kind, kind == FULL
            entries = {
                column: entry
                for column in columns
                if (entry := _entry(table, row.name, column, of_a_kind, full=full)) is not None
            }
            lines.append(Line(row.name, _title(row, *kind), epochs or None, entries, precision, every))
    return lines


def variant(record: Record) -> tuple[int, str, int]:
    """Return length (0 for the full one), precision and epochs between scores: a mean is over runs that share them."""
    return record["epochs"] if record["shortened"] else 0, precision_of(record), evaluate_every_of(record)


def _title(row: Row, epochs: int, precision: str, every: int) -> str:
    length = f", {epochs} {'epoch' if epochs == 1 else 'epochs'}" if epochs else ""
    scored = f", scored every {every} epochs" if every > 1 else ""
    return row.title + length + ("" if precision == RECIPE_PRECISION else f", {precision}") + scored


def _entry(table: Table, row: str, column: tuple[str, str], records: Sequence[Record], *, full: bool) -> Entry | None:
    cell, measure = column
    here = sorted((record for record in records if record["cell"] == cell), key=lambda record: int(record["seed"]))
    best = [record.get("best", {}).get("accuracy") for record in here]
    last = [record["last"].get("accuracy" if measure == BEST else measure) for record in here]
    if measure == BEST or (measure == "accuracy" and table.epoch == "best"):
        # A method whose last stage has no epochs has one number, that of the finished model.
        values, other = [end if value is None else value for value, end in zip(best, last, strict=True)], last
    else:
        values, other = last, best if measure == "accuracy" else []
    published = table.published.get((row, cell, measure)) if full else None
    if not any(value is not None for value in values) and published is None:
        return None
    return Entry(_percent(values), _percent(other), published)


def _percent(values: Sequence[float | None]) -> tuple[float, ...]:
    return tuple(100 * value for value in values if value is not None)


def _notes(table: Table, lines: Sequence[Line], others: int) -> tuple[str, ...]:
    notes = [
        "* beside a difference: outside the uncertainty, two standard errors of both means",
        f"numbers are those of the {table.epoch} epoch",
    ]
    if any(line.epochs is not None for line in lines):
        notes.append("lines with a number of epochs are shortened runs and have no published counterpart")
    if any(line.precision != RECIPE_PRECISION for line in lines):
        notes.append("lines with bf16 are runs in mixed precision, and those with 64 in double precision")
    if any(line.evaluate_every > 1 for line in lines):
        notes.append("lines scored every so many epochs have the best of the scored epochs, the last among them")
    slips: dict[str, str] = {}
    for line in lines:
        for entry in line.entries.values():
            if entry.published is not None and entry.published.note:
                slips.setdefault(f"{line.title}: {entry.published.note}", "")
    notes += list(slips)
    if others:
        notes.append(f"{others} {'record' if others == 1 else 'records'} made with other settings left out")
    return tuple(notes)

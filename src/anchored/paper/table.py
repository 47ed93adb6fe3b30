"""A table of the paper as a value: its rows and columns, the run of each cell, and the published numbers.

A *cell* is a condition under which every row is run: a data set with its noise or its imbalance. A *row* is a method
with its own settings. A *job* is one run: a row in a cell with a seed. A *measure* is a number of a finished run:
accuracy, or the accuracy of the many, medium and few classes, or the calibration error.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from anchored._checks import check_integer
from anchored._errors import InputError
from anchored._names import choose, suggest
from anchored.methods import PROCEDURES, Method, parse
from anchored.paper.published import Published, key_of
from anchored.training import merge, validate

__all__ = ["RECIPE_PRECISION", "Cell", "Job", "Row", "Table"]

Settings = Mapping[str, Any]

RECIPE_PRECISION = "32"
"""Precision of every recipe of the catalogue: single precision."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One method of a table.

    Example:
        >>> Row(name="ce+fnpal (aligned)", method="ce+fnpal", ours=True).title
        'CE+FNPAL (aligned)'
    """

    name: str
    """Name of the row in ``--method`` and in the records."""
    method: str
    """Name that :func:`anchored.methods.parse` reads. It is parsed when the row is run, not before."""
    settings: Settings = field(default_factory=dict)
    """Settings of this row, on top of all others."""
    ours: bool = False
    """Whether the paper has no such row."""

    @property
    def title(self) -> str:
        """Name as tables print it."""
        head, bracket, rest = self.name.partition(" (")
        return "+".join(_TITLES.get(word, word.upper()) for word in head.split("+")) + bracket + rest


_TITLES = {
    "auto": "auto",
    "mixup": "mixup",
    "norm": "Norm",
    "balanced-softmax": "Balanced Softmax",
    "logit-adjusted": "Logit adjusted",
    **{name: kind.title for name, kind in PROCEDURES.items()},
}
"""Titles of words that are not printed in capitals; a method with a file of its own says its title there."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One condition of a table: a data set, and what was done to it."""

    name: str
    """Name of the cell in ``--cell`` and in the records, e.g. ``mnist/0.8``."""
    title: str
    """Heading of its column."""
    settings: Settings
    """Settings of data, recipe and backbone."""


def named(row: Row, cell: Cell) -> dict[str, Any]:
    """Return the settings of the cell with the method of the row, for tables with no other rule.

    Args:
        row: The row.
        cell: The cell.

    Returns:
        The settings of a run, without its seed.

    Example:
        >>> named(Row(name="ce", method="ce"), Cell(name="a", title="a", settings={"train": {"epochs": 3}}))
        {'train': {'epochs': 3}, 'method': {'name': 'ce'}}
    """
    return merge(cell.settings, {"method": {"name": row.method}})


@dataclass(frozen=True)
class Job:
    """One run of a table: everything that decides its result, as plain values that any process can be handed.

    Example:
        >>> from anchored.paper import TABLES
        >>> job = TABLES["noise_symmetric"].job("ce+fnpal", "mnist/0.8", seed=0)
        >>> job.settings["method"]["noise_rate"], job.epochs, job.shortened
        (0.8, 50, False)
    """

    table: str
    row: str
    cell: str
    seed: int
    settings: dict[str, Any]
    full_epochs: int
    """Epochs of the published recipe; 0 if the method is computed, or the run decides it."""

    @property
    def epochs(self) -> int:
        """Epochs of this run, in its first stage; 0 if its settings name none."""
        return int(self.settings["train"].get("epochs", 0))

    @property
    def shortened(self) -> bool:
        """Whether the run has another length than the published recipe, so that its numbers do not compare."""
        return self.epochs != self.full_epochs

    @property
    def precision(self) -> str:
        """Precision of this run."""
        return str(self.settings["train"].get("precision", RECIPE_PRECISION))

    @property
    def evaluate_every(self) -> int:
        """How many epochs lie between two scores of the test set: 1 scores it after each; 0 only the finished model."""
        return int(self.settings["train"].get("evaluate", True))

    @property
    def key(self) -> str:
        """Twelve hexadecimal digits that name the settings; tables with the same run share it.

        Only settings that the catalogue states count, so a setting that a later version adds does not change the key.
        """
        return hashlib.sha256(json.dumps(self.settings, sort_keys=True).encode()).hexdigest()[:12]

    @property
    def method(self) -> Method | None:
        """The method that is trained; None if ``auto`` decides it when the run begins."""
        name = self.settings["method"]["name"]
        return None if name == "auto" else parse(name)

    @property
    def title(self) -> str:
        """Table, cell, row and seed in words."""
        return f"{self.table} {self.cell} {self.row} seed {self.seed}"


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of the paper, or one of ours in the same form."""

    name: str
    title: str
    claim: str
    """The statement that the table shows."""
    rows: tuple[Row, ...]
    cells: tuple[Cell, ...]
    build: Callable[[Row, Cell], Settings] = field(default=named, repr=False)
    """Returns the settings of a row in a cell, without the seed."""
    published: Mapping[tuple[str, str, str], Published] = field(default_factory=dict, repr=False)
    """Published numbers in percent, by row, cell and measure."""
    measures: tuple[str, ...] = ("accuracy",)
    epoch: Literal["last", "best"] = "last"
    """The epoch whose test accuracy the literature reports here."""
    seeds: tuple[int, ...] = (0, 1, 2)
    needs: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Files of the data root that no command here can fetch, and how to get each."""

    def check_needs(self, data_root: str | Path | None) -> None:
        """Check that the data root has the files that no command here can fetch.

        Raises:
            InputError: If one is missing; the message says how to get it.
        """
        root = Path() if data_root is None else Path(data_root)
        for name, way_out in self.needs.items():
            if not (root / name).is_file():
                raise InputError(f"table {self.name} needs {name}, which {root.absolute()} has not; {way_out}")

    def row(self, name: str) -> Row:
        """Return the row called ``name``, in any case."""
        rows = {row.name: row for row in self.rows}
        return choose(_plain(name), rows, what=f"method of table {self.name}:")

    def cell(self, name: str) -> Cell:
        """Return the cell called ``name``."""
        return choose(name.strip().lower(), {cell.name: cell for cell in self.cells}, what=f"cell of {self.name}:")

    def job(
        self,
        row: str,
        cell: str,
        *,
        seed: int,
        epochs: int | None = None,
        precision: str = RECIPE_PRECISION,
        evaluate_every: int = 1,
    ) -> Job:
        """Describe the run of one row in one cell.

        Args:
            row: Name of the row.
            cell: Name of the cell.
            seed: Seed of all random streams.
            epochs: Another length than the published one.
            precision: ``"bf16"`` for a run in mixed precision, or ``"64"``.
            evaluate_every: Score the test set after every so many epochs and after the last. 1 leaves the table's own
                rule as it is.

        Returns:
            The job, with settings that hold everything that decides its result.

        Raises:
            InputError: If the table has no such row or cell, or a setting is out of range.

        Example:
            >>> from anchored.paper import TABLES
            >>> job = TABLES["noise_symmetric"].job("ce", "mnist/0.8", seed=0, epochs=5, precision="bf16")
            >>> job.epochs, job.shortened, job.precision
            (5, True, 'bf16')
        """
        the_row, the_cell = self.row(row), self.cell(cell)
        settings = merge(self.build(the_row, the_cell), the_row.settings)
        full = int(settings.get("train", {}).get("epochs", 0))
        length = full if epochs is None else epochs
        settings = merge(settings, {"train": {"seed": seed, **({"epochs": length} if length else {})}})
        if precision != RECIPE_PRECISION:  # said only then, so that runs recorded without it keep their key
            settings = merge(settings, {"train": {"precision": precision}})
        if evaluate_every != 1:  # likewise
            check_integer("evaluate_every", evaluate_every, low=1, way_out="it counts epochs")
            settings = merge(settings, {"train": {"evaluate": evaluate_every}})
        # Through JSON, so that a tuple and a list are the same settings.
        plain = json.loads(json.dumps(settings))
        validate(plain, where=f"table {self.name}")
        return Job(self.name, the_row.name, the_cell.name, seed, plain, full)

    def jobs(
        self,
        *,
        methods: Sequence[str] = (),
        cells: Sequence[str] = (),
        seeds: Sequence[int] | None = None,
        epochs: int | None = None,
        precision: str = RECIPE_PRECISION,
        evaluate_every: int = 1,
    ) -> list[Job]:
        """List the runs of the named rows, cells and seeds, or of all of them if none is named.

        A name may be a pattern: ``mnist/*``. The list goes seed by seed, so that a first number for everything is there
        early.

        Args:
            methods: Names or patterns of rows.
            cells: Names or patterns of cells.
            seeds: Seeds; by default the table's own.
            epochs: Another length than the published one.
            precision: What the runs compute in; see :meth:`job`.
            evaluate_every: Epochs between two scores of the test set; see :meth:`job`.

        Returns:
            One job for each seed, cell and row.

        Raises:
            InputError: If a name fits no row or no cell.

        Example:
            >>> from anchored.paper import TABLES
            >>> len(TABLES["noise_symmetric"].jobs(methods=["ce"], cells=["mnist/*"], seeds=[0, 1]))
            10
        """
        chosen_rows = _chosen(methods, [row.name for row in self.rows], what=f"method of table {self.name}:")
        chosen_cells = _chosen(cells, [cell.name for cell in self.cells], what=f"cell of table {self.name}:")
        return [
            self.job(row, cell, seed=seed, epochs=epochs, precision=precision, evaluate_every=evaluate_every)
            for seed in (self.seeds if seeds is None else seeds)
            for cell in chosen_cells
            for row in chosen_rows
        ]


def _plain(name: str) -> str:
    """A row's name in the spelling of the catalogue, from that of the paper or of a user."""
    return " ".join(name.strip().lower().split())


def _chosen(asked: Sequence[str], known: list[str], *, what: str) -> list[str]:
    if not asked:
        return known
    found: set[str] = set()
    for name in map(_plain, asked):
        spelled = [each for each in (name, key_of(name)) if each in known]  # as here, or as the paper prints it
        matches = spelled[:1] or fnmatch.filter(known, name)
        if not matches:
            raise InputError(f"unknown {what} {name!r}; {suggest(name, known)}")
        found.update(matches)
    return [name for name in known if name in found]

"""A table of the paper as a value: what its rows and columns are, what each cell runs, which numbers were published.

A *cell* is a condition under which every row is run: a data set with its noise or its imbalance. A *row* is a method,
with the settings that are its own. A *job* is one run: a row in a cell from a seed. Numbers are read off a finished run
by *measure*: accuracy, or the accuracy of the many, medium and few classes, or the calibration error.
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
from anchored.methods import Method, parse
from anchored.paper.published import Published, key_of
from anchored.training.config import merge, validate

__all__ = ["RECIPE_PRECISION", "Cell", "Job", "Row", "Table"]

Settings = Mapping[str, Any]

RECIPE_PRECISION = "32"
"""In what every recipe of the catalogue computes: single precision."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One method of a table.

    Example:
        >>> Row(name="ce+fnpal (aligned)", method="ce+fnpal", ours=True).title
        'CE+FNPAL (aligned)'
    """

    name: str
    """What ``--method`` and the records call it."""
    method: str
    """What :func:`anchored.methods.parse` reads. It is read when the row is run, not before."""
    settings: Settings = field(default_factory=dict)
    """What is this row's own, over all else."""
    ours: bool = False
    """Whether the paper has no such row."""

    @property
    def title(self) -> str:
        """The name as tables print it."""
        head, bracket, rest = self.name.partition(" (")
        return "+".join(_TITLES.get(word, word.upper()) for word in head.split("+")) + bracket + rest


_TITLES = {
    "auto": "auto",
    "mixup": "mixup",
    "crt": "cRT",
    "mislas": "MiSLAS",
    "norm": "Norm",
    "tau-norm": "τ-norm",
    "causal-norm": "Causal Norm",
    "balanced-softmax": "Balanced Softmax",
    "pc-softmax": "PC Softmax",
    "logit-adjusted": "Logit adjusted",
    "post-hoc": "Logit adjusted post hoc",
    "dot-regression": "Dot regression",
    "hyperspherical": "Hyperspherical prototypes",
    "equiangular": "Equiangular vectors",
}


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One condition of a table: a data set, and what was done to it."""

    name: str
    """What ``--cell`` and the records call it, e.g. ``mnist/0.8``."""
    title: str
    """The heading of its column."""
    settings: Settings
    """Data, recipe and backbone."""


def named(row: Row, cell: Cell) -> dict[str, Any]:
    """The settings of the cell under the method of the row, where there is no more to say."""
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
    """The length of the published recipe."""

    @property
    def epochs(self) -> int:
        """The length of this run."""
        return int(self.settings["train"]["epochs"])

    @property
    def shortened(self) -> bool:
        """Whether the run has another length than the published recipe, so that the numbers do not compare."""
        return self.epochs != self.full_epochs

    @property
    def precision(self) -> str:
        """In what this run computes."""
        return str(self.settings["train"].get("precision", RECIPE_PRECISION))

    @property
    def evaluate_every(self) -> int:
        """How many epochs lie between two scores of the test set: 1 scores it after each; 0 only the finished model."""
        return int(self.settings["train"].get("evaluate", True))

    @property
    def key(self) -> str:
        """Twelve hexadecimal digits that name the settings; tables that ask for the same run share it.

        Only what the catalogue says counts, so a setting that a later version adds does not make finished runs strange.
        """
        return hashlib.sha256(json.dumps(self.settings, sort_keys=True).encode()).hexdigest()[:12]

    @property
    def method(self) -> Method | None:
        """What is trained; None where ``auto`` names it when the run begins."""
        name = self.settings["method"]["name"]
        return None if name == "auto" else parse(name)

    @property
    def title(self) -> str:
        """The job in words."""
        return f"{self.table} {self.cell} {self.row} seed {self.seed}"


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of the paper, or one of ours in the same form."""

    name: str
    title: str
    claim: str
    """What the table is there to show."""
    rows: tuple[Row, ...]
    cells: tuple[Cell, ...]
    build: Callable[[Row, Cell], Settings] = field(default=named, repr=False)
    """The settings of a row in a cell; the seed comes on top."""
    published: Mapping[tuple[str, str, str], Published] = field(default_factory=dict, repr=False)
    """By row, cell and measure; percent."""
    measures: tuple[str, ...] = ("accuracy",)
    epoch: Literal["last", "best"] = "last"
    """Which epoch's test accuracy the literature reports here."""
    seeds: tuple[int, ...] = (0, 1, 2)
    needs: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What must lie in the data root that no command here can get, and how it comes there."""

    def check_needs(self, data_root: str | Path | None) -> None:
        """Refuse a data root without what no command here can get, and say how it comes there."""
        root = Path() if data_root is None else Path(data_root)
        for name, way_out in self.needs.items():
            if not (root / name).is_file():
                raise InputError(f"table {self.name} needs {name}, which {root.absolute()} has not; {way_out}")

    def row(self, name: str) -> Row:
        """The row called ``name``, in any case."""
        rows = {row.name: row for row in self.rows}
        return choose(_plain(name), rows, what=f"method of table {self.name}:")

    def cell(self, name: str) -> Cell:
        """The cell called ``name``."""
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
        """
        the_row, the_cell = self.row(row), self.cell(cell)
        settings = merge(self.build(the_row, the_cell), the_row.settings)
        full = int(settings["train"]["epochs"])
        settings = merge(settings, {"train": {"seed": seed, "epochs": full if epochs is None else epochs}})
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
    """A row's name as the catalogue spells it, from how the paper or a user may."""
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

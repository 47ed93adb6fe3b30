"""A figure of the paper as a value: its runs, the numbers that are read from them, and the drawing.

The runs are those of a table (rows times cells, one seed): the paper's setting, or a quick one on MNIST. ``read`` turns
finished runs into numbers, ``draw`` turns numbers into a picture and needs nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from anchored._errors import InputError
from anchored.paper.figures.runs import Runs, Watch, train
from anchored.paper.figures.style import check_out, save, styled
from anchored.paper.results import Record, Results
from anchored.paper.table import Job, Table
from anchored.paper.worker import Placement
from anchored.training import Progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

__all__ = ["Figure"]

D = TypeVar("D")

_TITLES = {"mnist": "MNIST", "cifar10": "CIFAR-10", "cifar100": "CIFAR-100"}


@dataclass(frozen=True, kw_only=True)
class Figure(Generic[D]):
    """A figure of the paper.

    Example:
        >>> from anchored.paper.figures import FIGURES
        >>> [job.row for job in FIGURES["norms"].jobs()][0], len(FIGURES["norms"].jobs(quick=True))
        ('ce', 4)
    """

    name: str
    claim: str
    """The statement that the figure shows."""
    cost: str
    """The time of its runs."""
    read: Callable[[Runs], D]
    """Reads the numbers of the figure from its finished runs."""
    draw: Callable[[D], Picture]
    """Draws the picture from its numbers alone."""
    table: Table | None = None
    """The paper's runs; None if nothing is trained."""
    quick: Table | None = None
    """A small version of them."""
    watch: Watch | None = None
    """Keeps what the figure needs of a run beyond its history."""
    from_records: bool = False
    """Whether the record of a run is enough, so that what is recorded need not be run again."""

    def jobs(self, *, epochs: int | None = None, quick: bool = False) -> list[Job]:
        """List the runs of the figure.

        Args:
            epochs: Another length than the recipe's.
            quick: Whether to list the runs of the small version.

        Returns:
            One job per row and cell, with seed 0.

        Raises:
            InputError: If the figure has no runs that could be shortened.

        Example:
            >>> from anchored.paper.figures import FIGURES
            >>> {job.epochs for job in FIGURES["norms"].jobs(epochs=3)}
            {3}
        """
        table = self.quick if quick else self.table
        if table is None:
            if epochs is not None or quick:
                said = "--quick" if quick else "--epochs"
                raise InputError(f"figure {self.name} trains nothing that could be shortened; leave out {said}")
            return []
        return table.jobs(seeds=[0], epochs=epochs)

    def make(
        self,
        *,
        out: Path,
        store: Path,
        data_root: Path | None = None,
        epochs: int | None = None,
        quick: bool = False,
        progress: Progress | None = None,
        results: Path | None = None,
    ) -> Path:
        """Draw the figure; runs that are missing in the store are made first.

        Args:
            out: The picture to write: SVG, PNG or PDF.
            store: The folder of the runs, shared with the tables.
            data_root: The folder of the data sets.
            epochs: Another length of the runs; the picture says so.
            quick: Whether to draw the small version; the picture says so.
            progress: Receives what happens.
            results: The folder of the records, for a figure that can be drawn from them.

        Returns:
            The file that was written, ``out``.

        Raises:
            InputError: If the file cannot be written, data is missing, or a run fails.
        """
        check_out(out)
        jobs = self.jobs(epochs=epochs, quick=quick)
        placement = Placement(str(store), None if data_root is None else str(data_root))
        runs = Runs((), placement)
        if jobs:
            progress = Progress() if progress is None else progress
            known = _curves(results) if self.from_records and results is not None else {}
            runs = train(jobs, placement, progress=progress, watch=self.watch, records=known)
        numbers = self.read(runs)
        with styled():
            return save(self.draw(numbers), out, caption=self.caption(runs, quick=quick))

    def caption(self, runs: Runs, *, quick: bool = False) -> str:
        """Say in a line what was run; a version that is not the paper's says so first.

        Args:
            runs: The runs that the picture shows.
            quick: Whether they are those of the small version.

        Returns:
            The caption; empty if nothing is trained.
        """
        if not runs.jobs:
            return ""
        samples = sorted({runs.samples(job) for job in runs.jobs}, reverse=True)
        images = " or ".join(f"{n:,}" for n in samples) + " images"
        said = f"{_setting(runs.jobs)}, {images}, seed 0"
        if quick:
            return f"Quick version: {said}. The full version: {_setting(self.jobs())}."
        if runs.jobs[0].shortened:
            return f"Shortened: {said}. The full recipe has {runs.jobs[0].full_epochs} epochs."
        return f"{said[0].upper()}{said[1:]}."


def _curves(results: Path) -> dict[str, Record]:
    """Records that hold the test accuracy of every epoch, by key."""
    kept = Results(results).by_key()
    return {key: record for key, record in kept.items() if None not in record["history"].get("test_accuracy", [None])}


def _setting(jobs: Sequence[Job]) -> str:
    """Data, network and length of ``jobs``, which have them in common."""
    settings = jobs[0].settings
    source, backbone = settings["data"]["source"], settings["backbone"]
    widths = "-".join(map(str, backbone.get("options", {}).get("hidden", ())))
    network = f"{backbone['name']} {widths}".strip()
    return f"{_TITLES.get(source, source)}, {network}, {jobs[0].epochs} epochs"

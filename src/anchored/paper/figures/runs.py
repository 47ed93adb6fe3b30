"""The runs behind a figure: missing ones are made by the runner, and all are read when they are finished.

They live in the same store as those of the tables, under the same names, so that a run is made once for both. Two
processes that draw on one store share the work, as two runners do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from torch import Tensor

from anchored._errors import InputError
from anchored.data import Dataset
from anchored.methods import Network
from anchored.paper.engines import InlineEngine
from anchored.paper.results import Record
from anchored.paper.runner import Watcher, run
from anchored.paper.store import Store
from anchored.paper.table import Job
from anchored.paper.worker import Outcome, Placement, check_data, located
from anchored.runs import RunFolder, TrainedModel, open_data
from anchored.training import Progress, Runtime, ask, evaluation_batches, pick_device, validate

__all__ = ["NetworkOutputs", "Runs", "Watch", "train"]

Watch = Callable[[Progress, RunFolder], Progress]
"""Wraps the progress of a run, for a figure that keeps more of the run than its history."""


class NetworkOutputs(NamedTuple):
    """Logits ``(n, k)`` and features ``(n, d)`` of the test set from a trained network, and true labels ``(n,)``."""

    logits: Tensor
    features: Tensor
    labels: Tensor


@dataclass(frozen=True)
class Runs:
    """Finished runs, with the folders in which they and their data lie."""

    jobs: tuple[Job, ...]
    placement: Placement
    records: Mapping[str, Record] = field(default_factory=dict, repr=False)
    """Records by key, of runs that may be missing in the store."""
    _tests: dict[str, Dataset] = field(default_factory=dict, repr=False)

    def job(self, row: str, cell: str) -> Job:
        """Return the job of one row in one cell.

        Args:
            row: Name of the row.
            cell: Name of the cell.

        Returns:
            The first such job.

        Example:
            >>> from anchored.paper.figures import FIGURES
            >>> runs = Runs(tuple(FIGURES["norms"].jobs(quick=True)), Placement("store"))
            >>> runs.job("ce", runs.jobs[0].cell) is runs.jobs[0]
            True
        """
        return next(job for job in self.jobs if (job.row, job.cell) == (row, cell))

    def folder(self, job: Job) -> RunFolder:
        """Return the run folder of ``job``."""
        return Store(self.placement.store).run(job)

    def result(self, job: Job) -> dict[str, Any]:
        """Return the final numbers of ``job``."""
        return self.folder(job).read_result()

    def accuracies(self, job: Job) -> list[float]:
        """Return the test accuracy after each epoch."""
        if job.key in self.records:
            return list(self.records[job.key]["history"]["test_accuracy"])
        return [line["test_accuracy"] for line in self.folder(job).read_lines("history.jsonl")]

    def samples(self, job: Job) -> int:
        """Return how many samples ``job`` was trained on."""
        return int((self.records.get(job.key) or self.result(job))["samples"])

    def network(self, job: Job) -> Network:
        """Return the trained network of ``job``; its logits are not divided by a temperature."""
        return TrainedModel.load(self.folder(job).path).classifier

    def test_outputs(self, job: Job) -> NetworkOutputs:
        """Return what the network of ``job``, as it was after the last epoch, answers for the whole test set."""
        model = TrainedModel.load(self.folder(job).path)
        runtime = Runtime(pick_device(self.placement.device))
        test = self._test(job)
        batches = evaluation_batches(test, model.normalization, runtime)
        logits, features = ask(model.classifier.to(runtime.device), batches, runtime, features=True)
        assert features is not None, "asked for"
        return NetworkOutputs(logits, features, test.labels)

    def _test(self, job: Job) -> Dataset:
        source = job.settings["data"]["source"]
        if source not in self._tests:
            test = open_data(validate(located(job, self.placement))).test
            assert test is not None, "the figures are of data sets with a test part"
            self._tests[source] = test
        return self._tests[source]


def train(
    jobs: Sequence[Job],
    placement: Placement,
    *,
    progress: Progress,
    watch: Watch | None = None,
    records: Mapping[str, Record] | None = None,
) -> Runs:
    """Run ``jobs`` in this process, or resume them; finished ones stay as they are.

    Args:
        jobs: The runs of a figure.
        placement: Folders, threads and device.
        progress: Receives what happens.
        watch: Wraps ``progress`` for each run, for a figure that keeps more of a run than its history.
        records: Records by key; a job that has one is left out.

    Returns:
        The runs, ready to be read.

    Raises:
        InputError: If a data set is missing, or if a run fails; the other runs are made before that is said.

    Example:
        >>> train([], Placement("store"), progress=Progress()).jobs
        ()
    """
    store, known = Store(placement.store), dict(records or {})
    missing = [job for job in jobs if job.key not in known and store.state(job) != "finished"]
    check_data(missing, placement)
    if missing:
        engine = InlineEngine(
            placement, progress_of=lambda job: progress if watch is None else watch(progress, store.run(job))
        )
        failed = run(missing, store, None, engine, _Announcer(progress)).failed
        if failed:
            job, reason = failed[0]
            raise InputError(f"{job.title}: {reason}")
    return Runs(tuple(jobs), placement, known)


class _Announcer(Watcher):
    """Says in the progress of a figure which of its runs begins, and which another process is making."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self._total = self._number = 0

    def begin(self, jobs: Sequence[Job], finished: int) -> None:
        self._total = len(jobs) - finished

    def started(self, job: Job) -> None:
        self._number += 1
        self.progress.say(f"run {self._number} of {self._total}: {job.row}, {job.cell}, {job.epochs} epochs")

    def ended(self, job: Job, outcome: Outcome) -> None:
        if outcome.status == "busy":
            self.progress.say(f"{job.row}, {job.cell}: {outcome.message}; it is taken up again later")

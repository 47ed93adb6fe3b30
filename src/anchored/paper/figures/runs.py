"""The runs behind a figure: made where they are missing, read when all are there.

They live in the same store as those of the tables, under the same names, so that a run is done once for both. Whoever
draws with two processes on one store shares the work: a run in other hands is left until the rest is done.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from torch import Tensor

from anchored._errors import InputError
from anchored.data import Dataset
from anchored.methods import Network
from anchored.paper.results import Record
from anchored.paper.store import Store
from anchored.paper.table import Job
from anchored.paper.worker import Place, check_data, located, work
from anchored.runs import RunFolder, TrainedModel, open_data
from anchored.training import Progress, Runtime, ask, evaluation_batches, pick_device, validate

__all__ = ["Runs", "Seen", "Watch", "train"]

Watch = Callable[[Progress, RunFolder], Progress]
"""Puts an ear of the figure's own between a run and whoever follows it."""

_PATIENCE = 5.0


class Seen(NamedTuple):
    """What a trained network makes of the test set: logits ``(n, k)``, features ``(n, d)`` and true labels ``(n,)``."""

    logits: Tensor
    features: Tensor
    labels: Tensor


@dataclass(frozen=True)
class Runs:
    """Finished runs, and where they and their data lie."""

    jobs: tuple[Job, ...]
    place: Place
    records: Mapping[str, Record] = field(default_factory=dict, repr=False)
    """By key: what is known of runs that may not be in the store."""
    _tests: dict[str, Dataset] = field(default_factory=dict, repr=False)

    def job(self, row: str, cell: str) -> Job:
        """The run of ``row`` in ``cell``."""
        return next(job for job in self.jobs if (job.row, job.cell) == (row, cell))

    def folder(self, job: Job) -> RunFolder:
        """Where ``job`` was run."""
        return Store(self.place.store).run(job)

    def result(self, job: Job) -> dict[str, Any]:
        """The final numbers of ``job``."""
        return self.folder(job).read_result()

    def accuracies(self, job: Job) -> list[float]:
        """Test accuracy after each epoch."""
        if job.key in self.records:
            return list(self.records[job.key]["history"]["test_accuracy"])
        return [line["test_accuracy"] for line in self.folder(job).read_lines("history.jsonl")]

    def samples(self, job: Job) -> int:
        """How many samples ``job`` was trained on."""
        return int((self.records.get(job.key) or self.result(job))["samples"])

    def network(self, job: Job) -> Network:
        """The trained network of ``job``, whose logits no temperature has touched."""
        return TrainedModel.load(self.folder(job).path).classifier

    def seen(self, job: Job) -> Seen:
        """The whole test set through the network of ``job``, as it was after the last epoch."""
        model = TrainedModel.load(self.folder(job).path)
        runtime = Runtime(pick_device(self.place.device))
        test = self._test(job)
        batches = evaluation_batches(test, model.normalization, runtime)
        logits, features = ask(model.classifier.to(runtime.device), batches, runtime, features=True)
        assert features is not None, "asked for"
        return Seen(logits, features, test.labels)

    def _test(self, job: Job) -> Dataset:
        source = job.settings["data"]["source"]
        if source not in self._tests:
            test = open_data(validate(located(job, self.place)).data).test
            assert test is not None, "the figures are of data sets with a test part"
            self._tests[source] = test
        return self._tests[source]


def train(
    jobs: Sequence[Job],
    place: Place,
    *,
    progress: Progress,
    watch: Watch | None = None,
    records: Mapping[str, Record] | None = None,
) -> Runs:
    """Do ``jobs``, or go on with them; finished ones are left as they are.

    Args:
        jobs: What to run.
        place: The store, and the data.
        progress: Is told what happens.
        watch: Hears it first; for a figure that needs more of a run than its history says.
        records: By key; a job that has one is left out.
    """
    store, known = Store(place.store), dict(records or {})
    open_jobs = [job for job in jobs if job.key not in known and store.state(job) != "finished"]
    check_data(open_jobs, place)
    if open_jobs:
        store.make()
    waiting, busy = deque(enumerate(open_jobs, start=1)), 0
    while waiting:
        number, job = waiting.popleft()
        progress.say(f"run {number} of {len(open_jobs)}: {job.row}, {job.cell}, {job.epochs} epochs")
        outcome = work(job, place, progress if watch is None else watch(progress, store.run(job)))
        if outcome.status == "busy":
            progress.say(f"{outcome.message}; it is taken up again later")
            waiting.append((number, job))
            busy += 1
            if busy >= len(waiting):
                time.sleep(_PATIENCE)
        elif outcome.status == "finished":
            busy = 0
        else:
            raise InputError(f"{job.title}: {outcome.message}")
    return Runs(tuple(jobs), place, known)

"""From a list of jobs to finished runs with their records, on any engine, any number of times.

What is finished is only recorded, and what is recorded is not done again; what is broken is gone on with; what another
runner has in hand is left to it and looked at again later. A process that is lost is given another try, because its
checkpoint is still there.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from anchored._errors import InputError
from anchored.paper.engines import Engine
from anchored.paper.results import Record, Results, named_for, record_of
from anchored.paper.store import Store
from anchored.paper.table import Job
from anchored.paper.worker import Outcome

__all__ = ["Summary", "Watcher", "run"]

_TRIES = 3
_BEAT = 1.0
_PATIENCE = 5.0  # between looks at what another runner has in hand


class Watcher:
    """Hears what the runner does and says nothing; subclasses show it."""

    def begin(self, jobs: Sequence[Job], finished: int) -> None:
        """So many jobs are asked for, and so many of them were finished before."""

    def started(self, job: Job) -> None:
        """A process has been found for ``job``."""

    def ended(self, job: Job, outcome: Outcome) -> None:
        """``job`` has ended, or was found in other hands."""

    def beat(self, running: Sequence[Job]) -> None:
        """About once a second: these are going on."""

    def end(self) -> None:
        """All is done, or the runner was stopped."""


@dataclass
class Summary:
    """What a call of :func:`run` came to.

    Attributes:
        skipped: Jobs that were finished before.
        finished: Jobs done now, by this runner or another.
        failed: Jobs that could not be done, with the reason.
    """

    skipped: list[Job] = field(default_factory=list)
    finished: list[Job] = field(default_factory=list)
    failed: list[tuple[Job, str]] = field(default_factory=list)


def run(jobs: Sequence[Job], store: Store, results: Results, engine: Engine, watcher: Watcher | None = None) -> Summary:
    """Do ``jobs`` on ``engine`` and keep a record of each.

    Args:
        jobs: What to do; jobs with the same settings are done once.
        store: Where the runs are kept.
        results: Where the records are kept.
        engine: Does them; closed at the end.
        watcher: Is told what happens.
    """
    watcher = Watcher() if watcher is None else watcher
    store.make()
    results.make()
    summary = Summary()
    work = _Work(store, results, summary, watcher)
    for job in jobs:
        work.add(job)
    results.add(*work.found)
    watcher.begin(jobs, len(summary.skipped))
    try:
        while work.open:
            for job in work.ready(engine.free):
                engine.start(job)
                watcher.started(job)
            for job, outcome in engine.wait(_BEAT):
                work.ended(job, outcome)
            work.rest()
            watcher.beat(list(work.running.values()))
    finally:
        engine.close()
        watcher.end()
    return summary


class _Work:
    """What is waiting, running and over."""

    def __init__(self, store: Store, results: Results, summary: Summary, watcher: Watcher) -> None:
        self.store, self.results, self.summary, self.watcher = store, results, summary, watcher
        self.waiting: list[Job] = []
        self.elsewhere: dict[str, Job] = {}
        self.looked = -_PATIENCE
        self.running: dict[str, Job] = {}
        self.same: dict[str, list[Job]] = {}
        self.tries: dict[str, int] = {}
        self.recorded = results.by_key()
        self.found: list[Record] = []

    @property
    def open(self) -> bool:
        return bool(self.waiting or self.running or self.elsewhere)

    def add(self, job: Job) -> None:
        if self.store.state(job) == "finished":
            try:
                self.found.append(record_of(job, self.store))
            except InputError as error:  # a damaged run folder is no reason to leave the other jobs
                self.summary.failed.append((job, str(error)))
            else:
                self.summary.skipped.append(job)
            return
        if job.key in self.recorded:  # on another machine, in a store that is gone, for another table
            self.summary.skipped.append(job)
            self.found.append(self.recorded[job.key] | named_for(job))
            return
        self.same.setdefault(job.key, []).append(job)
        if len(self.same[job.key]) == 1:
            self.waiting.append(job)

    def ready(self, free: int) -> list[Job]:
        """The next jobs to start; those in other hands only when they are let go and nothing else is left."""
        chosen: list[Job] = []
        while self.waiting and len(chosen) < free:
            job = self.waiting.pop(0)
            hindered = self.hindrance(job)
            if hindered is None:
                chosen.append(job)
            else:
                self.ended(job, hindered)
        if not self.waiting and time.monotonic() - self.looked >= _PATIENCE:
            chosen += self.let_go(free - len(chosen))
            self.looked = time.monotonic()
        self.running |= {job.key: job for job in chosen}
        return chosen

    def let_go(self, free: int) -> list[Job]:
        """Those that were in other hands and are no more: finished ones are recorded, others can be started."""
        found: list[Job] = []
        for job in list(self.elsewhere.values()):
            hindered = Outcome("finished") if self.store.state(job) == "finished" else self.hindrance(job)
            if hindered is None and len(found) < free:
                found.append(self.elsewhere.pop(job.key))
            elif hindered is not None and hindered.status != "busy":
                del self.elsewhere[job.key]
                self.ended(job, hindered)
        return found

    def hindrance(self, job: Job) -> Outcome | None:
        """Why ``job`` cannot be started; asked here, because a process for it would start only to find that out."""
        try:
            with self.store.lock(job) as lock:
                return None if lock.held else Outcome("busy", lock.said())
        except InputError as error:
            return Outcome("failed", str(error))

    def rest(self) -> None:
        """Wait for those in other hands, where nothing else goes on."""
        if self.elsewhere and not self.running and not self.waiting:
            time.sleep(_BEAT)

    def ended(self, job: Job, outcome: Outcome) -> None:
        self.running.pop(job.key, None)
        records: list[Record] = []
        if outcome.status == "finished":
            try:
                records = [record_of(each, self.store) for each in self.same[job.key]]
            except InputError as error:  # by another runner, in a folder that was damaged since
                outcome = Outcome("failed", str(error))
        if outcome.status == "busy":
            self.elsewhere[job.key] = job
        elif outcome.status == "lost" and self.tries.get(job.key, 1) < _TRIES:
            self.tries[job.key] = self.tries.get(job.key, 1) + 1
            self.waiting.insert(0, job)
        elif outcome.status == "finished":
            self.results.add(*records)
            self.summary.finished += self.same[job.key]
        else:
            self.summary.failed += [(each, outcome.message) for each in self.same[job.key]]
        self.watcher.ended(job, outcome)

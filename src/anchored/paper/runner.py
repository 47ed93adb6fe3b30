"""From a list of jobs to finished runs with their records, on any engine, any number of times.

A finished run is only recorded, and a recorded run is not made again. A run that was stopped is resumed. A run that
another runner is making is left to it and looked at again later. A job whose process was lost is tried again, because
its checkpoint is still there.
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
_PATIENCE = 5.0
"""Seconds between two looks at the jobs that other runners hold."""


class Watcher:
    """Receives what the runner does; this one ignores it, subclasses show it."""

    def begin(self, jobs: Sequence[Job], finished: int) -> None:
        """Receive the jobs at the beginning.

        Args:
            jobs: All jobs that were asked for.
            finished: How many of them were finished before.
        """

    def started(self, job: Job) -> None:
        """Receive that the engine has taken ``job``."""

    def ended(self, job: Job, outcome: Outcome) -> None:
        """Receive how a job ended.

        Args:
            job: The job.
            outcome: How it ended; ``busy`` if another runner holds it.
        """

    def beat(self, running: Sequence[Job]) -> None:
        """Receive, about once a second, the jobs that are running."""

    def end(self) -> None:
        """Receive that all is done, or that the runner was stopped."""


@dataclass
class Summary:
    """The result of a call of :func:`run`.

    Attributes:
        skipped: Jobs that were finished before.
        finished: Jobs finished now, by this runner or another.
        failed: Jobs that could not be finished, with the reason.
    """

    skipped: list[Job] = field(default_factory=list)
    finished: list[Job] = field(default_factory=list)
    failed: list[tuple[Job, str]] = field(default_factory=list)


def run(
    jobs: Sequence[Job], store: Store, results: Results | None, engine: Engine, watcher: Watcher | None = None
) -> Summary:
    """Run ``jobs`` on ``engine`` and keep a record of each.

    Args:
        jobs: What to run; jobs with the same settings are run once.
        store: Keeps the runs.
        results: Keeps the records. None keeps none, and then only the store says what is finished.
        engine: Runs the jobs; it is closed at the end.
        watcher: Receives what happens.

    Returns:
        Which jobs were finished before, which now, and which failed and why.

    Raises:
        InputError: If the store or the folder of the records cannot be written to.

    Example:
        >>> import tempfile
        >>> from anchored.paper import Placement
        >>> from anchored.paper.engines import InlineEngine
        >>> folder = tempfile.mkdtemp()
        >>> run([], Store(folder), None, InlineEngine(Placement(folder)))
        Summary(skipped=[], finished=[], failed=[])
    """
    watcher = Watcher() if watcher is None else watcher
    store.make()
    if results is not None:
        results.make()
    queue = _Queue(store, results, watcher)
    for job in jobs:
        queue.add(job)
    if results is not None:
        results.add(*queue.found)
    watcher.begin(jobs, len(queue.summary.skipped))
    try:
        while queue.open:
            for job in queue.ready(engine.free):
                engine.start(job)
                watcher.started(job)
            for job, outcome in engine.wait(_BEAT):
                queue.ended(job, outcome)
            queue.pause()
            watcher.beat(list(queue.running.values()))
    finally:
        engine.close()
        watcher.end()
    return queue.summary


class _Queue:
    """Jobs that wait, run, are held by other runners, or are over."""

    def __init__(self, store: Store, results: Results | None, watcher: Watcher) -> None:
        self.store, self.results, self.watcher = store, results, watcher
        self.summary = Summary()
        self.waiting: list[Job] = []
        self.held_by_others: dict[str, Job] = {}
        self.looked = -_PATIENCE
        self.running: dict[str, Job] = {}
        self.same: dict[str, list[Job]] = {}
        self.tries: dict[str, int] = {}
        self.recorded = {} if results is None else results.by_key()
        self.found: list[Record] = []

    @property
    def open(self) -> bool:
        """Whether a job is not over yet."""
        return bool(self.waiting or self.running or self.held_by_others)

    def add(self, job: Job) -> None:
        """Put ``job`` in line, unless it is finished or recorded already."""
        if self.store.state(job) == "finished":
            try:
                self.found += self._records(job)
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
        """Take the next jobs to start, at most ``free``: those in line, and after them those that others released."""
        chosen: list[Job] = []
        while self.waiting and len(chosen) < free:
            job = self.waiting.pop(0)
            blocked = self.why_blocked(job)
            if blocked is None:
                chosen.append(job)
            else:
                self.ended(job, blocked)
        if not self.waiting and time.monotonic() - self.looked >= _PATIENCE:
            chosen += self.released(free - len(chosen))
            self.looked = time.monotonic()
        self.running |= {job.key: job for job in chosen}
        return chosen

    def released(self, free: int) -> list[Job]:
        """Return jobs that other runners have released and that can be started, at most ``free``.

        Those that the other runners have finished are recorded.
        """
        startable: list[Job] = []
        for job in list(self.held_by_others.values()):
            blocked = Outcome("finished") if self.store.state(job) == "finished" else self.why_blocked(job)
            if blocked is None and len(startable) < free:
                startable.append(self.held_by_others.pop(job.key))
            elif blocked is not None and blocked.status != "busy":
                del self.held_by_others[job.key]
                self.ended(job, blocked)
        return startable

    def why_blocked(self, job: Job) -> Outcome | None:
        """Return why ``job`` cannot be started, or None; a process for it would start only to find that out."""
        try:
            with self.store.lock(job) as lock:
                return None if lock.held else Outcome("busy", lock.describe_owner())
        except InputError as error:
            return Outcome("failed", str(error))

    def pause(self) -> None:
        """Sleep a moment if all that is left is held by other runners."""
        if self.held_by_others and not self.running and not self.waiting:
            time.sleep(_BEAT)

    def ended(self, job: Job, outcome: Outcome) -> None:
        """Note how ``job`` ended, and record it if it is finished."""
        self.running.pop(job.key, None)
        records: list[Record] = []
        if outcome.status == "finished":
            try:
                records = self._records(*self.same[job.key])
            except InputError as error:  # by another runner, in a folder that was damaged since
                outcome = Outcome("failed", str(error))
        if outcome.status == "busy":
            self.held_by_others[job.key] = job
        elif outcome.status == "lost" and self.tries.get(job.key, 1) < _TRIES:
            self.tries[job.key] = self.tries.get(job.key, 1) + 1
            self.waiting.insert(0, job)
        elif outcome.status == "finished":
            if self.results is not None:
                self.results.add(*records)
            self.summary.finished += self.same[job.key]
        else:
            self.summary.failed += [(each, outcome.message) for each in self.same[job.key]]
        self.watcher.ended(job, outcome)

    def _records(self, *jobs: Job) -> list[Record]:
        return [] if self.results is None else [record_of(job, self.store) for job in jobs]

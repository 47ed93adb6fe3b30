"""Progress of the runner on stderr: a live table on a terminal, plain lines otherwise.

Progress of a job is read from its run folder. So it is the same for every engine, and no process has to send it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from anchored.paper.runner import Watcher
from anchored.paper.store import Store
from anchored.paper.table import Job
from anchored.paper.worker import Outcome

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as Drawing

__all__ = ["LiveTable", "Pace", "PlainLines", "TimeLeft", "clock", "last_accuracy", "make_watcher"]


_REMEMBERED = 8


def make_watcher(store: Store, *, at_once: int) -> Watcher:
    """Make a live table on a terminal, plain lines otherwise.

    Args:
        store: The store of the runs.
        at_once: How many jobs run at a time.

    Returns:
        A watcher for :func:`anchored.paper.run` that writes to stderr.
    """
    if sys.stderr.isatty():
        from rich.console import Console

        return LiveTable(store, Console(stderr=True), at_once=at_once)
    return PlainLines(store, sys.stderr, at_once=at_once)


@dataclass(frozen=True)
class TimeLeft:
    """An estimate of the time that jobs still need.

    Attributes:
        seconds: Seconds at the pace so far; None if no pace is known.
        at_least: Whether jobs whose pace is not known yet come on top.

    Example:
        >>> str(TimeLeft(3725)), str(TimeLeft(65, at_least=True)), str(TimeLeft(None))
        ('1:02:05', 'over 1:05', '-')
    """

    seconds: float | None
    at_least: bool = False

    def __str__(self) -> str:
        return f"{'over ' if self.at_least and self.seconds is not None else ''}{clock(self.seconds)}"


class Pace:
    """The time of an epoch for each kind of job (data, network, precision), measured on jobs that ran.

    Args:
        store: The store of the runs.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._noted: dict[str, dict[str, Job]] = {}

    def note(self, *jobs: Job) -> None:
        """Note jobs that are running; the last few of each kind decide its pace."""
        for job in jobs:
            alike = self._noted.setdefault(_kind(job), {})
            alike[job.key] = job
            if len(alike) > _REMEMBERED:
                del alike[next(iter(alike))]

    def left(self, jobs: Sequence[Job], *, at_once: int) -> TimeLeft:
        """Estimate how long ``jobs`` still take.

        Args:
            jobs: Jobs that are not finished.
            at_once: How many of them run at a time.

        Returns:
            The time at the pace so far.

        Example:
            >>> str(Pace(Store("store")).left([], at_once=2))
            '0:00'
        """
        spent = {
            kind: [seconds for job in alike.values() for seconds in self.store.seconds(job)]
            for kind, alike in self._noted.items()
        }
        paces = {kind: sum(seconds) / len(seconds) for kind, seconds in spent.items() if seconds}
        known = [job for job in jobs if _kind(job) in paces]
        if not known:
            return TimeLeft(None if jobs else 0.0)
        total = sum(paces[_kind(job)] * self._epochs(job) for job in known)
        return TimeLeft(total / max(1, min(at_once, len(jobs))), at_least=len(known) < len(jobs))

    def _epochs(self, job: Job) -> int:
        return max(0, self.store.epochs_planned(job) - self.store.epochs_done(job))


def _kind(job: Job) -> str:
    """What decides how long an epoch takes: how much of which data, the network and the precision."""
    data = job.settings["data"]
    kept = [each for each in data.get("corrupt", ()) if not each.startswith(("symmetric", "asymmetric"))]
    return json.dumps([data["source"], data.get("side"), kept, job.settings.get("backbone"), job.precision])


class PlainLines(Watcher):
    """Writes a line when a job starts or ends, and about once a minute how far all of it is.

    Args:
        store: The store of the runs.
        stream: Receives the lines.
        at_once: How many jobs run at a time.
    """

    pause = 60.0  # seconds

    def __init__(self, store: Store, stream: TextIO, *, at_once: int) -> None:
        self.store, self.stream, self.at_once = store, stream, at_once
        self.pace = Pace(store)
        self._open: dict[str, Job] = {}
        self._said = time.monotonic()
        self._total = self._done = 0

    def begin(self, jobs: Sequence[Job], finished: int) -> None:
        """Write how many jobs there are.

        Args:
            jobs: All jobs that were asked for.
            finished: How many of them were finished before.
        """
        self._total, self._done = len(jobs), finished
        self._open = {job.key: job for job in jobs if self.store.state(job) != "finished"}
        self._say(f"{len(jobs)} {'cell' if len(jobs) == 1 else 'cells'}, {finished} finished before")

    def started(self, job: Job) -> None:
        """Write that ``job`` has started, and after which epoch it resumes."""
        done = self.store.epochs_done(job)
        resumed = f", resumed after epoch {done} of {self.store.epochs_planned(job)}" if done else ""
        self._say(f"{job.title}: started{resumed}")

    def ended(self, job: Job, outcome: Outcome) -> None:
        """Write how a job ended.

        Args:
            job: The job.
            outcome: How it ended.
        """
        if outcome.status in ("finished", "failed"):
            self._open.pop(job.key, None)
            self._done += outcome.status == "finished"
        why = f" ({outcome.message})" if outcome.message else ""
        word = {"busy": "left to another runner", "lost": "lost"}.get(outcome.status, outcome.status)
        self._say(f"{job.title}: {word}{why}{last_accuracy(self.store, job)}  [{self._done}/{self._total}]")

    def beat(self, running: Sequence[Job]) -> None:
        """Write how far the jobs are, if nothing was written for a while."""
        if time.monotonic() - self._said < self.pause or not running:
            return
        self.pace.note(*running)
        left = self.pace.left(list(self._open.values()), at_once=self.at_once)
        parts = [
            f"{job.cell} {job.row} {self.store.epochs_done(job)}/{self.store.epochs_planned(job)}" for job in running
        ]
        self._say(f"{', '.join(parts)}; {left} left")

    def _say(self, line: str) -> None:
        self._said = time.monotonic()
        print(line, file=self.stream, flush=True)


class LiveTable(Watcher):
    """Draws the running cells with their progress, and the time left for all.

    Args:
        store: The store of the runs.
        console: The terminal to draw on.
        at_once: How many jobs run at a time.
    """

    def __init__(self, store: Store, console: Console, *, at_once: int) -> None:
        from rich.live import Live

        self.store, self.at_once = store, at_once
        self.pace = Pace(store)
        self._open: dict[str, Job] = {}
        self._total = self._done = self._failed = 0
        self._live = Live(console=console, refresh_per_second=2)

    def begin(self, jobs: Sequence[Job], finished: int) -> None:
        """Draw the empty table.

        Args:
            jobs: All jobs that were asked for.
            finished: How many of them were finished before.
        """
        self._total, self._done = len(jobs), finished
        self._open = {job.key: job for job in jobs if self.store.state(job) != "finished"}
        self._live.start()

    def ended(self, job: Job, outcome: Outcome) -> None:
        """Print above the table how a job ended.

        Args:
            job: The job.
            outcome: How it ended.
        """
        from rich.text import Text

        if outcome.status in ("finished", "failed"):
            self._open.pop(job.key, None)
            self._done += outcome.status == "finished"
            self._failed += outcome.status == "failed"
        why = f": {outcome.message}" if outcome.message else ""
        self._live.console.print(Text(f"{job.title} {outcome.status}{why}{last_accuracy(self.store, job)}"))

    def beat(self, running: Sequence[Job]) -> None:
        """Draw the table again."""
        self._live.update(self.drawing(running))

    def drawing(self, running: Sequence[Job]) -> Drawing:
        """Make the table of the jobs that are running."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table as Drawing
        from rich.text import Text

        self.pace.note(*running)
        left = self.pace.left(list(self._open.values()), at_once=self.at_once)
        failed = f", {self._failed} failed" if self._failed else ""
        drawing = Drawing(title=f"{self._done} of {self._total} cells{failed}, {left} left", title_justify="left")
        for heading in ("cell", "method", "seed", "epoch", "", "test", "left"):
            drawing.add_column(heading)
        for job in running:
            done, planned = self.store.epochs_done(job), self.store.epochs_planned(job)
            drawing.add_row(
                Text(job.cell),
                Text(job.row),
                str(job.seed),
                f"{done}/{planned}",
                ProgressBar(total=planned, completed=done, width=20),
                Text(last_accuracy(self.store, job).strip()),
                str(self.pace.left([job], at_once=1)),
            )
        return drawing

    def end(self) -> None:
        """Stop drawing; the table stays as it is."""
        self._live.stop()


def last_accuracy(store: Store, job: Job) -> str:
    """Format the last test accuracy that is kept.

    Args:
        store: The store of the runs.
        job: One of them.

    Returns:
        Percent with two digits after two spaces, or nothing if the test set was not scored yet.

    Example:
        >>> from anchored.paper import TABLES
        >>> last_accuracy(Store("store"), TABLES["noise_symmetric"].job("ce", "mnist/0.8", seed=0))
        ''
    """
    scores = [line["test_accuracy"] for line in store.history(job) if line.get("test_accuracy") is not None]
    last = scores[-1] if scores else None
    return "" if last is None else f"  {100 * last:.2f} %"


def clock(seconds: float | None) -> str:
    """Format seconds as ``h:mm:ss``, or a dash if they are not known.

    Example:
        >>> clock(3725), clock(65), clock(None)
        ('1:02:05', '1:05', '-')
    """
    if seconds is None:
        return "-"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"

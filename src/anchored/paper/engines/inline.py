"""Jobs in this process, one after another: for figures, whose runs are followed step by step, and for tests."""

from __future__ import annotations

from collections.abc import Callable

from anchored.paper.engines._base import Engine
from anchored.paper.table import Job
from anchored.paper.worker import Outcome, Placement, run_job
from anchored.training import Progress

__all__ = ["InlineEngine"]


class InlineEngine(Engine):
    """Runs one job at a time in the process of the runner.

    A job runs within :meth:`wait`, which therefore takes as long as the job does.

    Args:
        placement: Folders, threads and device of the jobs.
        progress_of: Returns what receives the epochs and steps of a job; by default nothing does.

    Example:
        >>> engine = InlineEngine(Placement("store"))
        >>> engine.free, engine.wait(0.0)
        (1, [])
    """

    def __init__(self, placement: Placement, *, progress_of: Callable[[Job], Progress | None] | None = None) -> None:
        self.placement, self.progress_of = placement, progress_of
        self._next: Job | None = None

    @property
    def free(self) -> int:
        """One, unless a job was taken and not run yet."""
        return int(self._next is None)

    def start(self, job: Job) -> None:
        """Take ``job``."""
        self._next = job

    def wait(self, seconds: float) -> list[tuple[Job, Outcome]]:
        """Run the job that was taken, however long it is, and return how it ended."""
        job, self._next = self._next, None
        if job is None:
            return []
        return [(job, run_job(job, self.placement, None if self.progress_of is None else self.progress_of(job)))]

    def close(self) -> None:
        """Forget the job that was taken and not run."""
        self._next = None

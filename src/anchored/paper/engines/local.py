"""Jobs on this machine: one process each, a few at a time, with a share of the cores.

Every job has a fresh process: the memory of one job is free for the next, and a process that is killed stops no other
job. A process whose runner has died ends too, within a second.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from anchored._checks import check_integer
from anchored.paper.engines._base import Engine
from anchored.paper.table import Job
from anchored.paper.worker import Outcome, Placement, run_job
from anchored.training import pick_device

__all__ = ["LocalEngine"]


class LocalEngine(Engine):
    """Runs each job in a process of its own.

    Args:
        placement: Folders, threads and device of the jobs.
        jobs: How many jobs run at a time; by default one for each group of ``threads`` cores, and one on a GPU.

    Example:
        >>> LocalEngine(Placement("store"), jobs=2).free
        2
    """

    def __init__(self, placement: Placement, *, jobs: int | None = None) -> None:
        self.placement = placement
        self.limit = (
            _room(placement)
            if jobs is None
            else check_integer("jobs", jobs, low=1, way_out="it is how many cells are run at a time")
        )
        self._running: dict[Connection, tuple[Job, SpawnProcess]] = {}

    @property
    def free(self) -> int:
        """How many more processes may be started now."""
        return self.limit - len(self._running)

    def start(self, job: Job) -> None:
        """Start a process for ``job``."""
        # Spawned, not forked: a forked copy of a process that has used threads can hang.
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=_work_in_a_process, args=(job, self.placement, there), name=job.key)
        process.start()
        there.close()  # so that the end of the process is the end of the pipe
        self._running[here] = job, process

    def wait(self, seconds: float) -> list[tuple[Job, Outcome]]:
        """Return the outcomes that processes have sent; ``lost`` if a process ended without sending one."""
        ended = []
        for here in wait(list(self._running), timeout=seconds):
            assert isinstance(here, Connection)
            job, process = self._running.pop(here)
            try:
                outcome: Outcome = here.recv()
            except (EOFError, OSError):
                process.join()
                outcome = Outcome("lost", f"its process ended with {_reason(process.exitcode)}")
            process.join()
            here.close()
            ended.append((job, outcome))
        return ended

    def close(self) -> None:
        """Stop every process, and wait until it has ended."""
        for _, process in self._running.values():
            process.terminate()
        for here, (_, process) in self._running.items():
            process.join()
            here.close()
        self._running.clear()


def _room(placement: Placement) -> int:
    """How many jobs can run at a time; on an accelerator one, because all would share it."""
    if pick_device(placement.device).type != "cpu":
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores // placement.threads)


def _work_in_a_process(job: Job, placement: Placement, there: Connection) -> None:
    for number in (signal.SIGINT, signal.SIGHUP):  # they reach the whole group; the runner sees to its processes
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_runner, daemon=True).start()
    there.send(run_job(job, placement))


def _end_with_the_runner() -> None:
    runner = multiprocessing.parent_process()
    if runner is not None:
        runner.join()
        os._exit(1)


def _reason(code: int | None) -> str:
    return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"

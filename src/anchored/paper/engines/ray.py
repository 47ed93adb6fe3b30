"""Jobs on a Ray cluster: the one that ``RAY_ADDRESS`` names or this machine belongs to, or else a local one.

The store and the data must lie where every machine of the cluster sees them. A job whose worker dies is retried by
Ray, on another machine if need be, and resumes from its checkpoint.
"""

from __future__ import annotations

import os
import socket
from typing import Any

from anchored._checks import check_integer, check_real
from anchored._errors import InputError
from anchored.paper.engines._base import Engine
from anchored.paper.table import Job
from anchored.paper.worker import Outcome, Placement, run_job

__all__ = ["RayEngine"]

_RETRIES = 3
_PATIENCE = 5.0  # seconds until a cluster that does not answer is given up


class RayEngine(Engine):
    """Runs each job as a task of a Ray cluster.

    Args:
        placement: Folders, threads and device of the jobs; each task asks the cluster for its threads.
        jobs: How many jobs run at a time; by default as many as the cluster has room for now.
        gpus: GPUs of each job; a fraction lets several jobs share one.
    """

    def __init__(self, placement: Placement, *, jobs: int | None = None, gpus: float = 0.0) -> None:
        self.ray = _ray()
        check_real("gpus", gpus, low=0, way_out="it is the share of a GPU that each cell gets")
        if jobs is not None:
            check_integer("jobs", jobs, low=1, way_out="it is how many cells are run at a time")
        self.placement = placement
        self._ours = not self.ray.is_initialized()
        if self._ours:
            self._connect(jobs)
        room = self._room(gpus)
        self.limit = room if jobs is None else min(jobs, room)
        self._task = self.ray.remote(num_cpus=placement.threads, num_gpus=gpus, max_retries=_RETRIES)(run_job)
        self._running: dict[Any, Job] = {}

    def _connect(self, jobs: int | None) -> None:
        quiet = {"log_to_driver": False, "logging_level": "ERROR"}
        named = os.environ.get("RAY_ADDRESS")
        if named:
            _reach(named)
        try:
            self.ray.init(address="auto", **quiet)
        except ConnectionError:
            if named and named != "local":
                raise _unreachable(named) from None
            cores = max(os.cpu_count() or 1, (jobs or 1) * self.placement.threads)
            self.ray.init(address="local", num_cpus=cores, include_dashboard=False, **quiet)

    def _room(self, gpus: float) -> int:
        there = self.ray.cluster_resources()
        room = int(there.get("CPU", 1) // self.placement.threads)
        if gpus > 0:
            room = min(room, int(there.get("GPU", 0) / gpus))
        if room < 1:
            raise InputError(
                f"the Ray cluster has no room for a cell of {self.placement.threads} threads and {gpus:g} GPUs; "
                f"ask for less with --threads and --gpus"
            )
        return room

    @property
    def free(self) -> int:
        """How many more tasks the cluster gets now."""
        return self.limit - len(self._running)

    def start(self, job: Job) -> None:
        """Hand ``job`` to the cluster."""
        self._running[self._task.remote(job, self.placement)] = job

    def wait(self, seconds: float) -> list[tuple[Job, Outcome]]:
        """Return the tasks that have ended; ``lost`` if Ray has given one up."""
        if not self._running:
            return []
        done, _ = self.ray.wait(list(self._running), num_returns=len(self._running), timeout=seconds)
        ended = []
        for task in done:
            try:
                outcome: Outcome = self.ray.get(task)
            except self.ray.exceptions.RayError as error:
                outcome = Outcome("lost", f"Ray gave up on it: {str(error).strip().splitlines()[0]}")
            ended.append((self._running.pop(task), outcome))
        return ended

    def close(self) -> None:
        """Stop the tasks that are running, and leave the cluster."""
        for task in self._running:
            self.ray.cancel(task, force=True)
        self._running.clear()
        if self._ours:
            self.ray.shutdown()


def _reach(address: str) -> None:
    """Refuse an address at which nobody listens; Ray itself would keep trying for minutes."""
    host, _, port = address.partition("://")[2].rpartition(":") if "://" in address else address.rpartition(":")
    if not host or not port.isdigit():
        return  # auto, local: Ray looks for itself
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()
    except (OSError, OverflowError):
        raise _unreachable(address) from None


def _unreachable(address: str) -> InputError:
    return InputError(
        f"no Ray cluster answers at RAY_ADDRESS={address}; start it, or unset RAY_ADDRESS for a local one"
    )


def _ray() -> Any:  # noqa: ANN401 - a module that may be missing
    try:
        import ray
    except ImportError:
        raise InputError("--on ray needs Ray, which is not installed; pip install 'anchored[ray]'") from None
    return ray

"""Jobs on a Slurm cluster, through submitit: one Slurm job per cell.

The store and the data must lie where every node sees them. A job that reaches its time limit or is preempted is put
back in the queue and resumes from its checkpoint.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anchored._checks import check_integer
from anchored._errors import InputError
from anchored.paper.engines._base import Engine
from anchored.paper.table import Job
from anchored.paper.worker import Outcome, Placement, run_job

__all__ = ["SlurmEngine"]

_IN_QUEUE = 100


class SlurmEngine(Engine):
    """Runs each job as a job of a Slurm cluster.

    Args:
        placement: Folders, threads and device of the jobs; each asks Slurm for its threads.
        jobs: How many jobs are in the queue at a time; 100 by default.
        gpus: GPUs of each job, a whole number.
        parameters: Further settings for submitit, e.g. ``{"slurm_partition": "gpu", "timeout_min": 720}``.
        cluster: ``slurm``; ``local`` does the same on this machine.
    """

    def __init__(
        self,
        placement: Placement,
        *,
        jobs: int | None = None,
        gpus: float = 0,
        parameters: Mapping[str, Any] | None = None,
        cluster: str = "slurm",
    ) -> None:
        submitit = _submitit()
        if cluster == "slurm" and shutil.which("sbatch") is None:
            raise InputError("--on slurm needs a Slurm cluster, and there is no sbatch here; run it on a login node")
        if gpus != int(gpus):
            raise InputError(f"Slurm gives whole GPUs, got {gpus:g}; use --on ray to share one")
        self.limit = _IN_QUEUE if jobs is None else check_integer("jobs", jobs, low=1, way_out="it is a queue's length")
        self._executor = submitit.AutoExecutor(folder=Path(placement.store) / "slurm", cluster=cluster)
        asked = {"timeout_min": 24 * 60, "cpus_per_task": placement.threads, "name": "anchored", **(parameters or {})}
        if gpus:
            asked["gpus_per_node"] = int(gpus)
        try:
            self._executor.update_parameters(**asked)
        except (NameError, TypeError, ValueError) as error:
            raise InputError(
                f"--slurm: submitit does not take these settings: {' '.join(str(error).split())}"
            ) from None
        self.placement = placement
        self._running: list[tuple[Job, Any]] = []

    @property
    def free(self) -> int:
        """How many more jobs are put into the queue now."""
        return self.limit - len(self._running)

    def start(self, job: Job) -> None:
        """Put ``job`` into the queue."""
        self._running.append((job, self._executor.submit(_Task(job, self.placement))))

    def wait(self, seconds: float) -> list[tuple[Job, Outcome]]:
        """Return the jobs that have ended; ``lost`` if Slurm has given one up."""
        until = time.monotonic() + seconds
        while True:
            done = [(job, submitted) for job, submitted in self._running if submitted.done()]
            if done or time.monotonic() >= until:
                break
            time.sleep(min(0.2, seconds))
        self._running = [entry for entry in self._running if entry not in done]
        return [(job, _outcome(submitted)) for job, submitted in done]

    def close(self) -> None:
        """Take the jobs that are not finished out of the queue."""
        for _, submitted in self._running:
            submitted.cancel()
        self._running.clear()


class _Task:
    """A job that submitit puts back in the queue if its time is over."""

    def __init__(self, job: Job, placement: Placement) -> None:
        self.job, self.placement = job, placement

    def __call__(self) -> Outcome:
        return run_job(self.job, self.placement)

    def checkpoint(self) -> Any:  # noqa: ANN401 - a class of submitit
        return _submitit().helpers.DelayedSubmission(self)


def _outcome(submitted: Any) -> Outcome:  # noqa: ANN401 - a class of submitit
    try:
        outcome: Outcome = submitted.result()
    except Exception as error:  # submitit has many, and all mean that the job did not come back
        return Outcome("lost", f"Slurm job {submitted.job_id}: {str(error).strip().splitlines()[0]}")
    return outcome


def _submitit() -> Any:  # noqa: ANN401 - a module that may be missing
    try:
        import submitit
    except ImportError:
        raise InputError("--on slurm needs submitit, which is not installed; pip install 'anchored[slurm]'") from None
    return submitit

"""The folder of the catalogue's runs: ``STORE/runs/KEY``, one run folder per job, named by its settings.

A finished run is never made again, an unfinished one is resumed, and ``STORE/locks/KEY.lock`` keeps two runners from
making the same one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from anchored._errors import InputError
from anchored._lock import Lock
from anchored.paper.table import Job
from anchored.runs import RunFolder

__all__ = ["Store"]


class Store:
    """A folder of runs.

    Args:
        path: The folder; :meth:`make` makes it.

    Example:
        >>> from anchored.paper import TABLES
        >>> job = TABLES["noise_symmetric"].job("ce", "mnist/0.8", seed=0)
        >>> store = Store("/nowhere")
        >>> store.run(job).path.name == job.key, store.state(job)
        (True, 'missing')
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def make(self) -> None:
        """Make the folder if it is missing."""
        try:
            for part in ("runs", "locks"):
                (self.path / part).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot create the store {self.path}: {error.strerror}; choose another --store") from None

    def run(self, job: Job) -> RunFolder:
        """Return the run folder of ``job``, whether it exists or not."""
        return RunFolder(self.path / "runs" / job.key)

    def lock(self, job: Job) -> Lock:
        """Return the lock of ``job``, not yet taken."""
        return Lock(self.path / "locks" / f"{job.key}.lock")

    def state(self, job: Job) -> Literal["missing", "started", "finished"]:
        """Say whether ``job`` is missing, started or finished."""
        run = self.run(job)
        return "finished" if run.finished else "started" if run.started else "missing"

    def epochs_done(self, job: Job) -> int:
        """Count the epochs of ``job`` that are done and kept."""
        return len(self.history(job))

    def history(self, job: Job) -> list[dict[str, Any]]:
        """Return the record of each epoch of ``job``; empty if there is none, or if the file is damaged."""
        return self._lines(job, "history.jsonl")

    def epochs_planned(self, job: Job) -> int:
        """Count the epochs of all stages of ``job``; before it is decided only the first stage is known."""
        run = self.run(job)
        if not run.decided:  # a run whose labels are being looked at has settings only
            return job.epochs
        config = run.read_config().as_dict()
        second = (config.get("second") or {}).get("epochs", 0)
        return int(config["train"]["epochs"]) + (second if isinstance(second, int) else 0)

    def seconds(self, job: Job) -> list[float]:
        """Return how long each epoch of ``job`` took."""
        return [line["seconds"] for line in self._lines(job, "speed.jsonl")]

    def _lines(self, job: Job, name: str) -> list[dict[str, Any]]:
        # A damaged file is refused by whoever runs or records the job; whoever only looks sees nothing in it.
        try:
            return self.run(job).read_lines(name)
        except InputError:
            return []

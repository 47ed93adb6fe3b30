"""What the runner asks of an engine: take a job, and tell how jobs ended."""

from __future__ import annotations

from abc import ABC, abstractmethod

from anchored.paper.table import Job
from anchored.paper.worker import Outcome

__all__ = ["Engine"]


class Engine(ABC):
    """Runs jobs somewhere. An engine starts and watches processes; what a job does is the same on all of them."""

    @property
    @abstractmethod
    def free(self) -> int:
        """How many more jobs the engine takes now."""

    @abstractmethod
    def start(self, job: Job) -> None:
        """Take ``job``."""

    @abstractmethod
    def wait(self, seconds: float) -> list[tuple[Job, Outcome]]:
        """Return the jobs that have ended since the last call; wait at most ``seconds`` for the first."""

    @abstractmethod
    def close(self) -> None:
        """Stop the jobs that are still running; their checkpoints stay."""

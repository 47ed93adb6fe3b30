"""What a run tells while it goes on; the command line draws it, a library call stays silent."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["Progress"]


class Progress:
    """Hears everything and says nothing; subclasses show it."""

    def start(self, *, epochs: int, epoch: int, batches: int, samples: int) -> None:
        """Training begins, or goes on, at ``epoch`` of ``epochs``."""

    def step(self, *, batch: int, samples: int, loss: float) -> None:
        """One batch is done."""

    def epoch(self, record: Mapping[str, float | int | None], *, seconds: float, samples: int) -> None:
        """One epoch is done and scored."""

    def say(self, line: str) -> None:
        """Something worth a line."""

    def stop(self) -> None:
        """Training has ended, well or not."""

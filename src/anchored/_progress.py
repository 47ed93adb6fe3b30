"""What long work tells while it goes on; the command line draws it, a library call stays silent."""

from __future__ import annotations

import os
from collections.abc import Mapping

__all__ = ["EncodingProgress", "Progress", "is_main_process"]


def is_main_process() -> bool:
    """Tell whether this process, among those that ``torchrun`` started together, writes files and speaks."""
    return os.environ.get("RANK", "0") == "0"


class EncodingProgress:
    """Listener to the encoding of photos, texts or rows that shows nothing; subclasses show it."""

    def start(self, *, samples: int) -> None:
        """Hear that the encoding of ``samples`` inputs begins."""

    def step(self, *, samples: int) -> None:
        """Hear that another ``samples`` inputs are done, computed or found in the cache."""

    def say(self, line: str) -> None:
        """Hear something worth a line."""

    def stop(self) -> None:
        """Hear that encoding has ended, well or not."""


class Progress:
    """Listener that hears everything and shows nothing; subclasses show it."""

    def start(self, *, epochs: int, epoch: int, batches: int, samples: int) -> None:
        """Hear that training begins, or goes on.

        Args:
            epochs: Number of epochs in all.
            epoch: Number of epochs that are done already.
            batches: Batches per epoch.
            samples: Samples per epoch.
        """

    def step(self, *, batch: int, samples: int, loss: float) -> None:
        """Hear that one batch is done.

        Args:
            batch: Number of the batch in its epoch, from 1.
            samples: Samples of the batch over all processes.
            loss: Its loss.
        """

    def epoch(self, record: Mapping[str, float | int | None], *, seconds: float, samples: int) -> None:
        """Hear that one epoch is done and scored.

        Args:
            record: The epoch's numbers, as in ``history.jsonl``.
            seconds: How long it took.
            samples: How many samples it had.
        """

    def say(self, line: str) -> None:
        """Hear something worth a line."""

    def stop(self) -> None:
        """Hear that training has ended, well or not."""

    def encoding(self) -> EncodingProgress:
        """Return a listener to the encoding of the data, which comes before training."""
        return EncodingProgress()

"""What long work tells while it goes on; the command line draws it, a library call stays silent."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["EncodingProgress", "Progress", "Work", "is_main_process", "telling"]

_BETWEEN_LINES = 10.0
_SAY: ContextVar[Callable[[str], None] | None] = ContextVar("say", default=None)


def is_main_process() -> bool:
    """Tell whether this process, among those that ``torchrun`` started together, writes files and speaks."""
    return os.environ.get("RANK", "0") == "0"


@contextmanager
def telling(say: Callable[[str], None]) -> Iterator[None]:
    """Let every :class:`Work` inside tell how far it is; without this, it stays silent.

    Args:
        say: Is called with each line.
    """
    token = _SAY.set(say)
    try:
        yield
    finally:
        _SAY.reset(token)


class Work:
    """Long work of known length, which tells every ten seconds how far it is and how much time is left.

    Args:
        what: What is done, such as ``"reading images"``.
        total: Number of steps in all.

    Example:
        >>> with telling(print):
        ...     Work("reading images", 4).step()      # too soon for a line
    """

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total, self._done = what, total, 0
        self._say = _SAY.get()
        self._begun = self._told = time.monotonic()

    def step(self, steps: int = 1) -> None:
        """Count ``steps`` more as done, and tell it if the last line is ten seconds old."""
        self._done += steps
        if self._say is None:
            return
        now = time.monotonic()
        if now - self._told < _BETWEEN_LINES or self._done >= self._total:
            return
        self._told = now
        minutes, seconds = divmod(round((self._total - self._done) * (now - self._begun) / self._done), 60)
        self._say(f"{self._what}: {self._done:,} of {self._total:,}, {minutes}:{seconds:02} left")


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

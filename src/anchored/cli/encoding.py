"""Encoding as it goes on, on stderr: a bar on a terminal, elsewhere a plain line every few seconds."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, TextIO

from anchored.features import Progress

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["EncodingBar", "EncodingLines", "make_encoding_progress"]

_BETWEEN_LINES, _BETWEEN_DRAWINGS = 10.0, 0.1


def make_encoding_progress() -> Progress:
    """Return a bar if stderr is a terminal, lines otherwise."""
    if sys.stderr.isatty():
        from rich.console import Console

        return EncodingBar(Console(stderr=True))
    return EncodingLines(sys.stderr)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"


class EncodingLines(Progress):
    """A line every ten seconds, and one at the end.

    Args:
        stream: Where to write them.

    Example:
        >>> lines = EncodingLines(sys.stdout)
        >>> lines.start(samples=3)
        >>> lines.step(samples=3)
        >>> lines.stop()
        encoded 3 of 3 in 0:00
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._total = self._done = 0
        self._begun = self._written = 0.0

    def start(self, *, samples: int) -> None:
        """Begin to count."""
        self._total, self._done = samples, 0
        self._begun = self._written = time.monotonic()

    def step(self, *, samples: int) -> None:
        """Count, and write a line if the last one is ten seconds old."""
        self._done += samples
        now = time.monotonic()
        if now - self._written < _BETWEEN_LINES or self._done >= self._total:
            return
        self._written = now
        left = (self._total - self._done) * (now - self._begun) / self._done
        self.say(f"encoded {self._done:,} of {self._total:,}, {_clock(left)} left")

    def say(self, line: str) -> None:
        """Write any line."""
        print(line, file=self._stream, flush=True)

    def stop(self) -> None:
        """Say how far it came and how long it took."""
        self.say(f"encoded {self._done:,} of {self._total:,} in {_clock(time.monotonic() - self._begun)}")


class EncodingBar(Progress):
    """A bar with the number of inputs and the time left.

    Args:
        console: Where to draw it.
    """

    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Drawing

        columns = (TextColumn("encoding"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._drawing = Drawing(*columns, console=console)
        self._done, self._drawn = 0, 0.0

    def start(self, *, samples: int) -> None:
        """Draw the empty bar."""
        self._done = 0
        self._task = self._drawing.add_task("", total=samples)
        self._drawing.start()

    def step(self, *, samples: int) -> None:
        """Move on; drawn at most ten times a second."""
        self._done += samples
        now = time.monotonic()
        if now - self._drawn >= _BETWEEN_DRAWINGS:
            self._drawn = now
            self._drawing.update(self._task, completed=self._done)

    def say(self, line: str) -> None:
        """Print a line above the bar."""
        from rich.text import Text

        self._drawing.console.print(Text(line))

    def stop(self) -> None:
        """Leave the bar as it is."""
        self._drawing.update(self._task, completed=self._done)
        self._drawing.stop()

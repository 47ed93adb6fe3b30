"""Progress of training on stderr: a bar on a terminal, otherwise one plain line per epoch."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

from anchored._progress import EncodingProgress
from anchored.cli.encoding import EncodingBar, EncodingLines
from anchored.training import Progress

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Bar", "Lines", "make_progress"]

EpochRecord = Mapping[str, float | int | None]
_PAUSE = 0.1  # a bar that is redrawn more often costs time and shows nothing more


def make_progress() -> Progress:
    """Make a bar on a terminal, plain lines otherwise."""
    if sys.stderr.isatty():
        from rich.console import Console

        return Bar(Console(stderr=True))
    return Lines(sys.stderr)


def _percent(value: float | int | None) -> str:
    return "-" if value is None else f"{100 * value:.2f} %"


def _accuracies(record: EpochRecord) -> str:
    """Write the accuracies of a record, by the data they were measured on."""
    names = {"train_accuracy": "train", "held_out_accuracy": "held-out", "test_accuracy": "test"}
    return ", ".join(
        f"{title} {_percent(record[name])}" for name, title in names.items() if record.get(name) is not None
    )


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Lines(Progress):
    """One line per epoch.

    Args:
        stream: Where to write the lines.

    Example:
        >>> lines = Lines(sys.stdout)
        >>> lines.start(epochs=4, epoch=0, batches=10, samples=640)
        >>> lines.epoch({"epoch": 1, "train_loss": 2.0, "train_accuracy": 0.25}, seconds=2.0, samples=640)
        epoch 1/4  loss 2.0000  accuracy: train 25.00 %  320/s  0:06 left
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._epochs = 0
        self._spent: list[float] = []

    def start(self, *, epochs: int, epoch: int, batches: int, samples: int) -> None:
        """Note how long the run is, and print where a resumed run goes on.

        Args:
            epochs: Epochs of the whole run.
            epoch: Epochs done before.
            batches: Batches of an epoch.
            samples: Samples of an epoch.
        """
        self._epochs = epochs
        if epoch:
            self.say(f"going on after epoch {epoch} of {epochs}")

    def epoch(self, record: EpochRecord, *, seconds: float, samples: int) -> None:
        """Print the line of a finished epoch.

        Args:
            record: Loss and accuracies of the epoch.
            seconds: Time that the epoch took.
            samples: Samples that were trained on.
        """
        self._spent.append(seconds)
        done = int(record["epoch"] or 0)
        left = (self._epochs - done) * sum(self._spent) / len(self._spent)
        speed = f"{samples / seconds:,.0f}/s" if seconds > 0 else "-"
        self.say(
            f"epoch {done}/{self._epochs}  loss {record['train_loss']:.4f}  accuracy: {_accuracies(record)}  "
            f"{speed}  {_clock(left)} left"
        )

    def encoding(self) -> EncodingProgress:
        """Write lines about the encoding to the same stream."""
        return EncodingLines(self._stream)

    def say(self, line: str) -> None:
        """Print any line."""
        print(line, file=self._stream, flush=True)


class Bar(Progress):
    """A bar with epoch, loss, accuracy, samples per second and the time left.

    Args:
        console: Console to draw the bar on.
    """

    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Drawing

        self._drawing = Drawing(
            TextColumn("epoch {task.fields[epoch]}"),
            BarColumn(),
            TextColumn("loss {task.fields[loss]}"),
            TextColumn("{task.fields[accuracy]}"),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
            console=console,
        )
        self._epochs = self._batches = self._done = self._samples = 0
        self._begun = self._drawn = 0.0

    def start(self, *, epochs: int, epoch: int, batches: int, samples: int) -> None:
        """Draw the bar, as far as the run is done.

        Args:
            epochs: Epochs of the whole run.
            epoch: Epochs done before.
            batches: Batches of an epoch.
            samples: Samples of an epoch.
        """
        self._epochs, self._batches, self._done = epochs, batches, epoch
        self._task = self._drawing.add_task(
            "", total=epochs * batches, completed=epoch * batches, epoch=self._place(), loss="-", accuracy="", speed=""
        )
        self._begun = time.monotonic()
        self._drawing.start()

    def _place(self) -> str:
        return f"{min(self._done + 1, self._epochs)}/{self._epochs}"

    def step(self, *, batch: int, samples: int, loss: float) -> None:
        """Move on by a batch; the bar is redrawn at most ten times a second.

        Args:
            batch: Batches of this epoch that are done.
            samples: Samples of the last batch.
            loss: Loss of the last batch.
        """
        self._samples += samples
        now = time.monotonic()
        if now - self._drawn < _PAUSE:
            return
        self._drawn = now
        self._drawing.update(
            self._task,
            completed=self._done * self._batches + batch,
            epoch=self._place(),
            loss=f"{loss:.4f}",
            speed=f"{self._samples / max(now - self._begun, 1e-9):,.0f}/s",
        )

    def epoch(self, record: EpochRecord, *, seconds: float, samples: int) -> None:
        """Show the accuracies of a finished epoch, and begin to measure the next one.

        Args:
            record: Loss and accuracies of the epoch.
            seconds: Time that the epoch took.
            samples: Samples that were trained on.
        """
        self._done = int(record["epoch"] or 0)
        self._drawing.update(
            self._task,
            completed=self._done * self._batches,
            epoch=f"{self._done}/{self._epochs}",
            loss=f"{record['train_loss']:.4f}",
            accuracy=_accuracies(record),
            speed=f"{samples / seconds:,.0f}/s" if seconds > 0 else "-",
        )
        self._begun, self._samples = time.monotonic(), 0

    def encoding(self) -> EncodingProgress:
        """Draw a bar of its own on the same console."""
        return EncodingBar(self._drawing.console)

    def say(self, line: str) -> None:
        """Print a line above the bar."""
        from rich.text import Text

        self._drawing.console.print(Text(line))

    def stop(self) -> None:
        """Leave the bar as it is."""
        self._drawing.stop()

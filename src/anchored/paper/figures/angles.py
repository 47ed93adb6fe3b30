r"""The smallest angle between trained prototypes, epoch by epoch: ``RUN/angles.jsonl``.

A run keeps the accuracy of every epoch, but prototypes only of the last checkpoint. That is written at the end of an
epoch, just before the epoch is reported, so whoever hears the report can still look at it.
"""

from __future__ import annotations

from collections.abc import Mapping

from anchored import metrics
from anchored._errors import InputError
from anchored.runs import RunFolder
from anchored.training import Progress

__all__ = ["AngleWatch", "read_angles"]

_FILE = "angles.jsonl"


class AngleWatch(Progress):
    """Passes everything on, and notes the smallest angle between prototypes after each epoch.

    Args:
        inner: Who is told what happens.
        run: The run that is watched.
    """

    def __init__(self, inner: Progress, run: RunFolder) -> None:
        self.inner, self.run = inner, run

    def start(self, *, epochs: int, epoch: int, batches: int, samples: int) -> None:
        """Note the epoch before a stop that came between its checkpoint and its report."""
        self.inner.start(epochs=epochs, epoch=epoch, batches=batches, samples=samples)
        if epoch:
            self._note()

    def step(self, *, batch: int, samples: int, loss: float) -> None:
        """Pass it on."""
        self.inner.step(batch=batch, samples=samples, loss=loss)

    def epoch(self, record: Mapping[str, float | int | None], *, seconds: float, samples: int) -> None:
        """Note the epoch."""
        self.inner.epoch(record, seconds=seconds, samples=samples)
        self._note()

    def say(self, line: str) -> None:
        """Pass it on."""
        self.inner.say(line)

    def stop(self) -> None:
        """Pass it on."""
        self.inner.stop()

    def _note(self) -> None:
        checkpoint = self.run.read_checkpoint()
        if checkpoint is None or checkpoint.facts["batch"]:
            return  # in the middle of an epoch, whose predecessor was noted when it ended
        head = checkpoint.part("model.head")
        rows = head["prototypes"] if "prototypes" in head else head["weight"]
        noted = {line["epoch"]: line for line in self.run.read_lines(_FILE)}
        epoch = checkpoint.facts["epoch"]
        noted[epoch] = {"epoch": epoch, "minimal_angle": metrics.minimal_angle(rows)}
        self.run.write_lines(_FILE, [noted[each] for each in sorted(noted)])


def read_angles(run: RunFolder, *, epochs: int) -> list[float]:
    """The smallest angle in degrees after each of the ``epochs`` of a finished run."""
    lines = run.read_lines(_FILE)
    if [line["epoch"] for line in lines] != list(range(1, epochs + 1)):
        raise InputError(
            f"{run.path} has kept the angles of {len(lines)} of its {epochs} epochs, because it was not run for this "
            f"figure from the start; remove the folder and draw again"
        )
    return [line["minimal_angle"] for line in lines]

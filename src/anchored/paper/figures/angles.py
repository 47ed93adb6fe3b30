r"""The smallest angle between trained prototypes, epoch by epoch: ``RUN/angles.jsonl``.

A run keeps the accuracy of every epoch, but prototypes only of the last checkpoint. That is written at the end of an
epoch, just before the epoch is reported, so that a progress object can read it when it receives the report.
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
        inner: The progress object that receives everything.
        run: The run to read the prototypes from.
    """

    def __init__(self, inner: Progress, run: RunFolder) -> None:
        self.inner, self.run = inner, run

    def start(self, *, epochs: int, epoch: int, batches: int, samples: int) -> None:
        """Pass it on; note the last epoch, in case the run was stopped between its checkpoint and its report.

        Args:
            epochs: Epochs of the stage.
            epoch: Epochs that are done.
            batches: Batches per epoch.
            samples: Samples per epoch.
        """
        self.inner.start(epochs=epochs, epoch=epoch, batches=batches, samples=samples)
        if epoch:
            self._note()

    def step(self, *, batch: int, samples: int, loss: float) -> None:
        """Pass a step on.

        Args:
            batch: Batches done in this epoch.
            samples: Samples of the step.
            loss: Loss of the step.
        """
        self.inner.step(batch=batch, samples=samples, loss=loss)

    def epoch(self, record: Mapping[str, float | int | None], *, seconds: float, samples: int) -> None:
        """Pass an epoch on, and note its angle.

        Args:
            record: Numbers of the epoch.
            seconds: Time of the epoch.
            samples: Samples of the epoch.
        """
        self.inner.epoch(record, seconds=seconds, samples=samples)
        self._note()

    def say(self, line: str) -> None:
        """Pass a line on."""
        self.inner.say(line)

    def stop(self) -> None:
        """Pass the end on."""
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
    """Read the smallest angle between prototypes after each epoch of a finished run.

    Args:
        run: The run folder.
        epochs: Epochs of the run.

    Returns:
        Angles in degrees, one per epoch.

    Raises:
        InputError: If the angles of some epochs are missing, because the run was not made for this figure.
    """
    lines = run.read_lines(_FILE)
    if [line["epoch"] for line in lines] != list(range(1, epochs + 1)):
        raise InputError(
            f"{run.path} has kept the angles of {len(lines)} of its {epochs} epochs, because it was not run for this "
            f"figure from the start; remove the folder and draw again"
        )
    return [line["minimal_angle"] for line in lines]

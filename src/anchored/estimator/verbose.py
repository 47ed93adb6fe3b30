"""What an estimator prints while it fits, if it is asked to: one line per thing that happens."""

from __future__ import annotations

from collections.abc import Mapping

from anchored._progress import Progress

__all__ = ["PrintedProgress"]

_ACCURACIES = {"train_accuracy": "training labels", "held_out_accuracy": "held-out labels"}


class PrintedProgress(Progress):
    """Print every line that is said and one line per epoch, on stdout as scikit-learn does.

    Example:
        >>> progress = PrintedProgress()
        >>> progress.start(epochs=5, epoch=0, batches=1, samples=100)
        >>> progress.epoch({"epoch": 1, "train_loss": 0.5, "train_accuracy": 0.75}, seconds=0.2, samples=100)
        epoch 1/5: loss 0.500, 75.0 % of the training labels
    """

    def __init__(self) -> None:
        self._epochs = 0

    def start(self, *, epochs: int, epoch: int, batches: int, samples: int) -> None:
        """Remember how many epochs there are."""
        self._epochs = epochs

    def epoch(self, record: Mapping[str, float | int | None], *, seconds: float, samples: int) -> None:
        """Print the numbers of one epoch that there are."""
        loss = record.get("train_loss")
        parts = [] if loss is None else [f"loss {loss:.3f}"]
        for name, words in _ACCURACIES.items():
            value = record.get(name)
            if value is not None:
                parts.append(f"{100 * value:.1f} % of the {words}")
        print(f"epoch {record['epoch']}/{self._epochs}: {', '.join(parts)}")

    def say(self, line: str) -> None:
        """Print a line."""
        print(line)

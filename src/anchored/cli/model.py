"""A finished run as ``predict`` and ``evaluate`` use it: its model, and other data brought to what the model takes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from anchored._errors import InputError
from anchored.cli.processes import tell

if TYPE_CHECKING:
    from anchored.data import Dataset
    from anchored.runs import TrainedModel
    from anchored.training import RunConfig

__all__ = ["FinishedRun", "load_run"]


@dataclass(frozen=True)
class FinishedRun:
    """A model and the configuration that it came from."""

    path: Path
    model: TrainedModel
    config: RunConfig

    def open(
        self,
        data: str,
        *,
        labels: Literal["required", "ignored"],
        root: str | None = None,
        label: str | None = None,
        image: str | None = None,
        part: str | None = None,
        stream: bool = False,
    ) -> Dataset:
        """Other data, in the shape, columns and classes of the model.

        Args:
            data: A source, as for training.
            labels: Whether they are needed.
            root: Where a built-in set lies, by default where training found it, or where image paths start.
            label: The label column, by default that of training.
            image: The column of image paths, by default that of training.
            part: ``"train"`` or ``"test"`` of a source that has both; by default its test part.
            stream: Open each image only when it is its turn.
        """
        from anchored.data import BUILT_IN, open_source
        from anchored.data.file_inputs import MEMORY_LIMIT

        trained_on = self.config.data
        table = not trained_on.source.lower().endswith(".npy")  # there, the label is a file of the training data
        columns = self.model.description.get("columns")
        split = open_source(
            data,
            root=trained_on.root if root is None and data in BUILT_IN else root,
            label=trained_on.label if label is None and table else label,
            image=trained_on.image if image is None else image,
            columns=columns,
            class_names=self.model.class_names,
            labels=labels,
            shape=self.model.input_shape,
            below_label=trained_on.below_label,
            memory_limit=0 if stream else MEMORY_LIMIT,
        )
        if part not in (None, "train", "test"):
            raise InputError(f"--part must be train or test, got {part!r}")
        if part == "test" and split.test is None:
            raise InputError(f"{split.train.name}: the data has no test part; leave --part out")
        if split.test is not None and part is None:
            tell(f"{data} has a training and a test part; this is the test part, --part train takes the other")
        return split.train if split.test is None or part == "train" else split.test


def load_run(path: Path, *, device: str = "auto") -> FinishedRun:
    """The model of a finished run, on ``device``."""
    from anchored.export import load
    from anchored.runs import RunFolder

    config = RunFolder.open(path).read_config()
    return FinishedRun(path, load(path, device=device), config)

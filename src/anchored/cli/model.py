"""A finished run as the commands use it: its model, and other data brought into the form that the model takes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from anchored._errors import InputError
from anchored.cli.processes import tell

if TYPE_CHECKING:
    from anchored.data import Dataset, SourceOptions, Split
    from anchored.runs import TrainedModel
    from anchored.training import RunConfig

__all__ = ["FinishedRun", "check_part", "check_root", "choose_part", "load_run"]


@dataclass(frozen=True)
class FinishedRun:
    """A trained model, the folder of its run, and its configuration."""

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
    ) -> Dataset:
        """Open other data in the shape, columns and classes of the model, encoded if the model encodes.

        Args:
            data: A source, as for training.
            labels: Whether labels are needed.
            root: Folder of a built-in set, by default the one of training; or the folder that image paths start from.
            label: Label column, by default the one of training.
            image: Column of image paths, by default the one of training.
            part: ``"train"`` or ``"test"`` of a source that has both; by default its test part.

        Returns:
            The chosen part of the data.

        Raises:
            InputError: The data cannot be read, or does not fit the model.
        """
        check_part(part)
        check_root(data, root)
        from anchored.data import BUILT_IN, open_source
        from anchored.data.file_inputs import MEMORY_LIMIT

        trained_on = self.config.data
        table = not trained_on.source.lower().endswith(".npy")  # there, the label is a file of the training data
        options: SourceOptions = {
            **self.model.source_options,
            "root": trained_on.root if root is None and data in BUILT_IN else root,
            "label": trained_on.label if label is None and table else label,
            "image": trained_on.image if image is None else image,
            "class_names": self.model.class_names,
            "labels": labels,
            "below_label": trained_on.below_label,
            "memory_limit": MEMORY_LIMIT if self.model.encoder is None else 0,
        }
        split = open_source(data, **options)
        return self.model.encoded(choose_part(split, part, data=data))


def check_part(part: str | None) -> None:
    """Refuse a ``--part`` that no data has, before the data is read."""
    if part not in (None, "train", "test"):
        raise InputError(f"--part must be train or test, got {part!r}")


def check_root(data: str, root: str | None) -> None:
    """Refuse a ``--data-root`` that the data would not look at, or that is not there.

    Args:
        data: The source.
        root: Value of ``--data-root``, or None.

    Raises:
        InputError: The option would be ignored.
    """
    if root is None:
        return
    from anchored.data import BUILT_IN

    path = Path(data).expanduser()
    if data == "digits" or (data not in BUILT_IN and (path.is_dir() or path.suffix.lower() in (".npz", ".npy"))):
        raise InputError(f"--data-root is of no use for {data}, which is complete by itself; leave it out")
    if not Path(root).expanduser().is_dir():
        raise InputError(f"--data-root {root}: there is no such folder")


def choose_part(split: Split, part: str | None, *, data: str) -> Dataset:
    """Choose the part of a source that a command is about, and say so if nobody asked.

    Args:
        split: The source.
        part: ``"train"``, ``"test"``, or None for the test part if there is one.
        data: Name of the source, for the message.

    Returns:
        The training or the test part.

    Raises:
        InputError: The test part is asked for, and there is none.
    """
    if split.test is None:
        if part == "test":
            raise InputError(f"{split.train.name}: the data has no test part; leave --part out")
        return split.train
    if part is None:
        tell(f"{data} has a training and a test part; this is the test part, --part train takes the other")
    return split.train if part == "train" else split.test


def load_run(path: Path, *, device: str = "auto") -> FinishedRun:
    """Load the model of a finished run, with its configuration.

    Args:
        path: Folder of the run.
        device: Device to put the model on: auto, cpu, cuda …

    Returns:
        The run, ready to be used.

    Raises:
        InputError: There is no finished run.
    """
    from anchored.export import load
    from anchored.runs import RunFolder

    config = RunFolder.open(path).read_config()
    return FinishedRun(path, load(path, device=device), config)

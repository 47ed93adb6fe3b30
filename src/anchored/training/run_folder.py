"""A run is a folder: what was asked, how it went, what came out, and where to go on after a crash.

=========================  ==============================================================
``config.yaml``            the resolved configuration
``history.jsonl``          one line per epoch; the same for the same configuration
``speed.jsonl``            seconds and samples per second of each epoch
``checkpoint/``            the state to go on from
``model.safetensors/json`` the trained model
``result.json``            the final numbers; its presence says that the run is finished
=========================  ==============================================================
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from anchored._errors import InputError
from anchored._files import write_json, write_text
from anchored.training.checkpoint import Checkpoint
from anchored.training.config import RunConfig, validate

__all__ = ["RunFolder"]


class RunFolder:
    """The files of one run.

    Args:
        path: The folder; :meth:`create` makes it, :meth:`open` expects it.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @classmethod
    def create(cls, path: str | Path) -> RunFolder:
        """A folder for a new run, refused where something else is in it already."""
        run = cls.plan(path)
        run.make()
        return run

    @classmethod
    def plan(cls, path: str | Path) -> RunFolder:
        """The same, but nothing is written before :meth:`make`."""
        run = cls(path)
        if run.path.exists() and not run.path.is_dir():
            raise InputError(f"{path} is a file; give a folder for the run")
        if run.finished:
            raise InputError(f"{path} holds a finished run; give another --out, or remove it first")
        if run.started:
            raise InputError(f"{path} holds a run that was interrupted; go on with: anchored resume {path}")
        if run.path.is_dir() and any(not _left_by_a_crash(item) for item in run.path.iterdir()):
            raise InputError(f"{path} is not empty; give a new folder for the run")
        return run

    def make(self) -> None:
        """Make the folder where it is not there yet."""
        try:
            (self.path / "checkpoint").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot create the run folder {self.path}: {error.strerror}") from None

    @classmethod
    def open(cls, path: str | Path) -> RunFolder:
        """The folder of a run that exists."""
        run = cls(path)
        if not run.started:
            raise InputError(
                f"{path} holds no run (config.yaml is missing); start one with: anchored fit DATA --out {path}"
            )
        return run

    @property
    def started(self) -> bool:
        """Whether a configuration was written."""
        return (self.path / "config.yaml").is_file()

    @property
    def finished(self) -> bool:
        """Whether the result was written, which is the last thing a run does."""
        return (self.path / "result.json").is_file()

    @property
    def checkpoint_path(self) -> Path:
        """Where the state to go on from lies."""
        return self.path / "checkpoint" / "last.safetensors"

    def sweep(self) -> None:
        """Remove the temporary files of a process that was killed while it wrote."""
        for folder in (self.path, self.checkpoint_path.parent):
            for item in folder.glob(".*.tmp"):
                item.unlink(missing_ok=True)

    def write_config(self, config: RunConfig) -> None:
        """Write the configuration; from here on the run can be resumed."""
        write_text(self.path / "config.yaml", config.to_yaml())

    def read_config(self) -> RunConfig:
        """The configuration of the run."""
        path = self.path / "config.yaml"
        try:
            values = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, yaml.YAMLError) as error:
            raise InputError(f"{path} cannot be read: {str(error).splitlines()[0]}") from None
        if not isinstance(values, dict):
            raise InputError(f"{path} must hold a mapping of settings, got {type(values).__name__}")
        return validate(values, where=str(path))

    def read_checkpoint(self) -> Checkpoint | None:
        """The state to go on from, or None where there is none yet."""
        return Checkpoint.load(self.checkpoint_path) if self.checkpoint_path.is_file() else None

    def write_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Keep a state, and the history that belongs to it."""
        checkpoint.save(self.checkpoint_path)
        self.write_lines("history.jsonl", checkpoint.facts["history"])

    def write_lines(self, name: str, records: Sequence[Mapping[str, Any]]) -> None:
        """Write one JSON object per line."""
        lines = [json.dumps(record, allow_nan=False, ensure_ascii=False) for record in records]
        write_text(self.path / name, "".join(f"{line}\n" for line in lines))

    def read_lines(self, name: str) -> list[dict[str, Any]]:
        """The inverse of :meth:`write_lines`; nothing where the file is missing."""
        path = self.path / name
        if not path.is_file():
            return []
        return [_parsed(line, path) for line in path.read_text(encoding="utf-8").splitlines()]

    def write_result(self, result: Mapping[str, Any]) -> None:
        """Write the final numbers: the run is finished."""
        write_json(self.path / "result.json", dict(result))

    def read_result(self) -> dict[str, Any]:
        """The final numbers."""
        path = self.path / "result.json"
        if not path.is_file():
            raise InputError(f"{self.path} is not finished; go on with: anchored resume {self.path}")
        return _parsed(path.read_text(encoding="utf-8"), path)


def _parsed(text: str, path: Path) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InputError(f"{path} is damaged: not a JSON object; remove the run's folder, and do the run again")
    return found


def _left_by_a_crash(item: Path) -> bool:
    """Whether a run that was killed before it wrote its configuration left this: nothing worth keeping."""
    if item.is_dir():
        return item.name == "checkpoint" and not any(item.iterdir())
    return item.name.startswith(".config.yaml.") and item.name.endswith(".tmp")

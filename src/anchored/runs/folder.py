"""A run is a folder with one owner at a time: settings, course, results, and the state to go on from.

=========================  =====================================================================
``settings.yaml``          the settings as asked, until everything is decided
``look/``                  what the look at the labels has found, kept as it is made
``config.yaml``            the resolved configuration
``history.jsonl``          one line per epoch; the same for the same configuration
``speed.jsonl``            seconds and samples per second of each epoch
``checkpoint/``            the state to go on from
``model.safetensors/json`` the trained model
``audit/``                 the labels ranked by how probably they are wrong, if there was a look
``tune/``                  checkpoint, history and speed of fine-tuning
``result.json``            the final numbers, written last: the run is finished. If fine-tuning follows, they are those
                           of the frozen answer until then, and ``tuning.kept`` in them is null
``.lock``                  held by the process that works on the run
=========================  =====================================================================
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from anchored._errors import InputError
from anchored._files import read_json, read_json_lines, read_yaml, sweep, write_json, write_text
from anchored._lock import Lock
from anchored.audit import CrossFit
from anchored.runs.records import check_result, check_speed
from anchored.training import Checkpoint, RunConfig, check_history, is_main_process, merge, validate

__all__ = ["RunFolder", "default_path"]

TUNE = "tune"
LOOK, EARLIER_LOOK = "look", "pilot"
"""Folders of the look; the second is what version 0.1.0 called it."""
_UNNAMED = ".unnamed"
_AGAIN = "remove the run's folder, and do the run again"


class RunFolder:
    """The files of one run.

    Args:
        path: The folder; :meth:`plan` checks a new one, :meth:`open` expects a started one.
        unnamed: Whether the folder is renamed after what was decided; see :func:`default_path`.
    """

    def __init__(self, path: str | Path, *, unnamed: bool = False) -> None:
        self.path = Path(path)
        self.unnamed = unnamed or (self.path / _UNNAMED).is_file()
        self._new = False
        self._lock: Lock | None = None

    @classmethod
    def plan(cls, path: str | Path, *, unnamed: bool = False) -> RunFolder:
        """Check that a new run can be kept in ``path``; nothing is written yet.

        Args:
            path: The folder; it may be there already if it is empty.
            unnamed: Whether the folder is renamed after what was decided.

        Returns:
            The folder of the run to be.

        Raises:
            InputError: Something else is in the folder, or another run.

        Example:
            >>> from tempfile import TemporaryDirectory
            >>> with TemporaryDirectory() as parent:
            ...     run = RunFolder.plan(f"{parent}/run")
            ...     run.started, run.path.exists()
            (False, False)
        """
        run = cls(path, unnamed=unnamed)
        run._new = True
        if run.path.exists() and not run.path.is_dir():
            raise InputError(f"{path} is a file; give a folder for the run")
        if run.finished:
            raise InputError(f"{path} holds a finished run; give another --out, or remove it first")
        if run.started:
            raise InputError(f"{path} holds a run that was interrupted; go on with: anchored resume {path}")
        if run.path.is_dir() and any(not _left_by_a_crash(item) for item in run.path.iterdir()):
            raise InputError(f"{path} is not empty; give a new folder for the run")
        return run

    @classmethod
    def open(cls, path: str | Path) -> RunFolder:
        """Open the folder of a run that exists."""
        run = cls(path)
        if not run.started:
            raise InputError(
                f"{path} holds no run (config.yaml is missing); start one with: anchored fit DATA --out {path}"
            )
        return run

    @contextmanager
    def owned(self) -> Iterator[RunFolder]:
        """Own the run: within, no other process works on it. An owner that died owns nothing.

        Raises:
            InputError: Another process owns the run; the line names it.
        """
        if self._lock is not None or not is_main_process():
            yield self  # owned already, or the first of several processes owns it for all
            return
        self._lock = lock = Lock(self.path / ".lock")
        try:
            if self.path.is_dir():
                self._take(lock)
            yield self
        finally:
            self._lock = None
            lock.release()
            if lock.path.is_file() and not self.started:
                lock.path.unlink(missing_ok=True)

    def _take(self, lock: Lock) -> None:
        if lock.held:
            return
        if not lock.acquire():
            owner = lock.owner()
            raise InputError(
                f"{self.path} is in use by process {owner.get('pid', '?')} on {owner.get('host', '?')}; "
                f"wait until it ends, or give another folder"
            )
        if self._new and self.started:  # another process was faster, and has ended
            raise InputError(f"{self.path} holds another run by now; give another folder")

    def make(self) -> None:
        """Make the folder if it is not there yet, and own it."""
        try:
            (self.path / "checkpoint").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot create the run folder {self.path}: {error.strerror}") from None
        if self._lock is not None:
            self._take(self._lock)

    def begin(self, settings: RunConfig, corrections: Mapping[str, Any]) -> None:
        """Keep the settings as asked, so that the run can be resumed before anything is decided.

        Args:
            settings: The user's settings.
            corrections: The receipt of the corrections that were read; later decisions do not change the run.

        Example:
            >>> from tempfile import TemporaryDirectory
            >>> with TemporaryDirectory() as parent:
            ...     run = RunFolder.plan(f"{parent}/run")
            ...     run.begin(validate({"train": {"epochs": 3}}), {})
            ...     run.started, run.decided, run.read_settings().train.epochs
            (True, False, 3)
        """
        if not is_main_process():
            return
        self.make()
        if self.started:
            return
        said = settings.model_dump(mode="json", exclude_unset=True)
        if corrections:
            said = merge(said, {"data": {"corrections_digest": corrections["digest"]}})
        if self.unnamed:
            write_text(self.path / _UNNAMED, "")
        write_text(self.path / "settings.yaml", yaml.safe_dump(said, sort_keys=False, allow_unicode=True))

    def settle(self, config: RunConfig) -> None:
        """Keep the resolved configuration, under the name that belongs to it: the decision is final.

        Args:
            config: The resolved configuration.

        Raises:
            InputError: The folder is named by its configuration, and there is such a run already.
        """
        path = default_path(config, self.path.parent) if self.unnamed else self.path
        if not is_main_process():
            self.path = path
            return
        self.make()
        self.sweep()
        self._new = False
        if not self.decided or self.read_config() != config:
            write_text(self.path / "config.yaml", config.to_yaml())
        (self.path / "settings.yaml").unlink(missing_ok=True)
        if path != self.path:
            if path.exists():
                shutil.rmtree(self.path)
                way_out = "see its result" if RunFolder(path).finished else "go on"
                raise InputError(
                    f"{path} holds this very run already; {way_out} with: anchored resume {path}, or give another --out"
                )
            self.path = self.path.rename(path)
        (self.path / _UNNAMED).unlink(missing_ok=True)

    @property
    def started(self) -> bool:
        """Whether settings or a configuration were written, so that the run can be resumed."""
        return any((self.path / name).is_file() for name in ("config.yaml", "settings.yaml"))

    @property
    def decided(self) -> bool:
        """Whether the resolved configuration was written."""
        return (self.path / "config.yaml").is_file()

    @property
    def finished(self) -> bool:
        """Whether the result was written, which is the last thing a run does, and no fine-tuning is under way."""
        path = self.path / "result.json"
        if not (self.path / TUNE).is_dir():
            return path.is_file()
        return path.is_file() and (self.read_result().get("tuning") or {}).get("kept") is not None

    @property
    def tuning(self) -> RunFolder:
        """The folder of the fine-tuning under way: its checkpoint, history and speed."""
        return RunFolder(self.path / TUNE)

    @property
    def look_path(self) -> Path:
        """Where the look at the labels is kept."""
        return self.path / LOOK

    @property
    def has_earlier_look(self) -> bool:
        """Whether version 0.1.0 began this run with a look at the labels."""
        return (self.path / EARLIER_LOOK / "choice.json").is_file()

    def read_look(self, n: int) -> CrossFit | None:
        """Read what the look at ``n`` labels has found, or None if there is nothing."""
        found = (CrossFit.load(self.path / name, n=n) for name in (LOOK, EARLIER_LOOK))
        return next((each for each in found if each is not None), None)

    def read_earlier_reasons(self) -> dict[str, Any] | None:
        """Read why version 0.1.0 chose what it chose, or None if this is no such run."""
        path = self.path / EARLIER_LOOK / "choice.json"
        return read_json(path, way_out=_AGAIN) if path.is_file() else None

    def read_settings(self) -> RunConfig:
        """Read what to go on with: the configuration, or the settings as asked if nothing was decided yet."""
        return self.read_config() if self.decided else self._read_yaml("settings.yaml")

    @property
    def checkpoint_path(self) -> Path:
        """Where the state to go on from lies."""
        return self.path / "checkpoint" / "last.safetensors"

    def sweep(self) -> None:
        """Remove the temporary files of a process that was killed while it wrote."""
        names = ("", "checkpoint", "audit", LOOK, EARLIER_LOOK, TUNE, f"{TUNE}/checkpoint")
        folders = (self.path / name for name in names)
        for folder in folders:
            sweep(folder, owned=True)
            for deeper in folder.glob("half-*") if folder.name in (LOOK, EARLIER_LOOK) else ():
                sweep(deeper, owned=True)

    def read_config(self) -> RunConfig:
        """Read the resolved configuration of the run."""
        return self._read_yaml("config.yaml")

    def _read_yaml(self, name: str) -> RunConfig:
        path = self.path / name
        values = read_yaml(path, way_out=_AGAIN)
        if not values and name == "config.yaml":  # a resolved configuration names every setting
            raise InputError(f"{path} is damaged: it is empty; {_AGAIN}")
        return validate(values, where=str(path))

    def read_checkpoint(self) -> Checkpoint | None:
        """Read the state to go on from, or None if there is none yet."""
        return Checkpoint.load(self.checkpoint_path) if self.checkpoint_path.is_file() else None

    def write_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Keep a state, and the history that belongs to it."""
        checkpoint.save(self.checkpoint_path)
        self.write_lines("history.jsonl", checkpoint.facts["history"])

    def write_lines(self, name: str, records: Sequence[Mapping[str, Any]]) -> None:
        """Write one JSON object per line.

        Args:
            name: The file in the folder.
            records: The objects.

        Example:
            >>> from tempfile import TemporaryDirectory
            >>> with TemporaryDirectory() as path:
            ...     RunFolder(path).write_lines("history.jsonl", [{"epoch": 1}, {"epoch": 2}])
            ...     RunFolder(path).read_lines("history.jsonl")
            [{'epoch': 1}, {'epoch': 2}]
        """
        lines = [json.dumps(record, allow_nan=False, ensure_ascii=False) for record in records]
        write_text(self.path / name, "".join(f"{line}\n" for line in lines))

    def read_lines(self, name: str) -> list[dict[str, Any]]:
        """Read what :meth:`write_lines` wrote; nothing if the file is missing.

        Raises:
            InputError: The file is damaged, or what it should hold about an epoch is not there.
        """
        path = self.path / name
        if not path.exists():
            return []
        lines = read_json_lines(path, way_out=_AGAIN)
        checks = {"history.jsonl": check_history, "speed.jsonl": check_speed}
        if name in checks:
            checks[name](lines, where=str(path), way_out=_AGAIN)
        return lines

    def write_result(self, result: Mapping[str, Any]) -> None:
        """Write the final numbers: the run is finished."""
        write_json(self.path / "result.json", dict(result))

    def read_result(self) -> dict[str, Any]:
        """Read the final numbers."""
        path = self.path / "result.json"
        if not path.exists():
            raise InputError(f"{self.path} is not finished; go on with: anchored resume {self.path}")
        result = read_json(path, way_out=_AGAIN)
        check_result(result, where=str(path), way_out=_AGAIN)
        return result


def default_path(config: RunConfig, parent: Path) -> Path:
    """Name the folder of a run after its data, its method and the hash of its configuration.

    Args:
        config: The resolved configuration.
        parent: The folder that runs are kept in.

    Returns:
        ``parent/DATA-METHOD-HASH``.

    Example:
        >>> default_path(validate({"data": {"source": "digits"}, "method": {"name": "ce"}}), Path("runs")).name[:10]
        'digits-ce-'
    """
    name = re.sub(r"[^\w.-]+", "_", Path(config.data.source).stem) or "data"
    return parent / f"{name}-{config.method.name}-{config.content_hash}"


def _left_by_a_crash(item: Path) -> bool:
    """Whether a run that was killed before it could be resumed left this: nothing worth keeping."""
    if item.name.startswith((".config.yaml.", ".settings.yaml.", f".{_UNNAMED}.")) and item.suffix == ".tmp":
        return True
    if item.is_dir():
        return item.name == "checkpoint" and not any(item.iterdir())
    return item.name in (".lock", _UNNAMED)

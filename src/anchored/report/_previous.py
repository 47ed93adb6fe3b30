"""The run to compare with: another finished one of the same data, by default the one made before this one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anchored._errors import InputError
from anchored._files import read_json
from anchored.runs import RunFolder
from anchored.training import RunConfig

__all__ = ["Changed", "Previous", "class_names", "find_previous", "read_previous", "settings_that_differ"]

_UNIMPORTANT = ("data.root", "train.device", "train.workers", "train.checkpoint_seconds")


@dataclass(frozen=True)
class Changed:
    """A setting that differs between two runs, with both values as text."""

    setting: str
    before: str
    now: str


@dataclass(frozen=True)
class Previous:
    """Another finished run: its folder, configuration, final numbers and class names."""

    path: Path
    config: RunConfig
    result: Mapping[str, Any]
    class_names: tuple[str, ...]


def class_names(written: object) -> tuple[str, ...]:
    """Return the class names that ``model.json`` lists; nothing if it lists none.

    Example:
        >>> class_names(["no", "yes"]), class_names(3)
        (('no', 'yes'), ())
    """
    return tuple(written) if isinstance(written, list) and all(isinstance(name, str) for name in written) else ()


def read_previous(path: str | Path) -> Previous:
    """Read the run in ``path``.

    Raises:
        InputError: There is no run, or it is not finished.
    """
    run = RunFolder.open(path)
    result = run.read_result()
    about = run.path / "model.json"
    names = read_json(about).get("class_names") if about.is_file() else None
    return Previous(run.path, run.read_config(), result, class_names(names))


def find_previous(run: RunFolder) -> Previous | None:
    """Find the newest finished run of the same data in the same parent folder that ended before ``run``.

    If none ended before it, the newest of the others is taken. Runs that cannot be read are passed over.
    """
    source = run.read_config().data.source
    ended = (run.path / "result.json").stat().st_mtime_ns
    here = run.path.resolve()
    beside = [(file.stat().st_mtime_ns, file.parent) for file in here.parent.glob("*/result.json")]
    order = sorted(beside, key=lambda each: (each[0] <= ended, each[0], each[1].name), reverse=True)
    for _, folder in order:
        if folder == here:
            continue
        try:
            found = read_previous(folder)
        except (InputError, OSError, ValueError):
            continue
        if found.config.data.source == source:
            return found
    return None


def settings_that_differ(before: RunConfig, now: RunConfig) -> list[Changed]:
    """List the settings that two runs do not share, except those that cannot change the result.

    Args:
        before: Configuration of the earlier run.
        now: Configuration of the later run.

    Returns:
        One entry per setting, in the order of the configuration.

    Example:
        >>> first, second = RunConfig(), RunConfig().change({"train": {"epochs": 3}})
        >>> settings_that_differ(first, second)
        [Changed(setting='train.epochs', before='30', now='3')]
    """
    old, new = _flat(before.as_dict()), _flat(now.as_dict())
    return [
        Changed(name, _text(old.get(name)), _text(new.get(name)))
        for name in sorted(old.keys() | new.keys(), key=[*old, *new].index)
        if old.get(name) != new.get(name) and name not in _UNIMPORTANT
    ]


def _flat(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) and value else {f"{prefix}{name}": value}
    return flat


def _text(value: object) -> str:
    if value is None or value == [] or value == {}:
        return "none"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)

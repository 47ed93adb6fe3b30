"""The settings of a run, from the three places where a user can give them.

Later ones win: the ``--config`` file, then the flags, then ``--set``. Paths are made absolute, so that a run can be
resumed from any folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anchored._errors import InputError

if TYPE_CHECKING:
    from anchored.training import RunConfig

__all__ = ["gather", "number_or_auto"]


def gather(config: Path | None, flags: Mapping[str, Mapping[str, Any]], overrides: Sequence[str]) -> RunConfig:
    """Gather the settings of a run from the three places, and check them.

    Args:
        config: YAML file of settings, or None.
        flags: The same tree as given by flags; None for a flag that was not given.
        overrides: Settings as ``path=value``.

    Returns:
        The settings; only what was given counts as set.

    Raises:
        InputError: Something is unknown or impossible, or no data is named.

    Example:
        >>> settings = gather(None, {"data": {"source": "digits"}, "train": {"epochs": 5}}, ["train.epochs=7"])
        >>> settings.data.source, settings.train.epochs
        ('digits', 7)
    """
    from anchored.training import merge, parse_settings, validate

    given = {part: {name: value for name, value in tree.items() if value is not None} for part, tree in flags.items()}
    file = {} if config is None else _read(config)
    for part in given:
        if not isinstance(file.get(part, {}), dict):
            raise InputError(f"--config {config}: {part} must hold settings, got {file[part]!r:.60}")
    settings = merge(merge(file, given), parse_settings(list(overrides)))
    data = settings.get("data")
    if not isinstance(data, dict) or not data.get("source"):
        validate(settings)
        raise InputError("which data? name it after `fit`, or as data.source in the --config file")
    if given.get("data", {}).get("corrections") is not None:
        data.pop("corrections_digest", None)  # that of a --config file is the state of another file
    features = settings.get("features")
    if isinstance(features, dict) and isinstance(features.get("weights"), str):
        settings = merge(settings, {"features": {"weights": str(Path(features["weights"]).expanduser().absolute())}})
    return validate(
        merge(settings, {"data": _absolute(data)}), where="the configuration" if config is None else str(config)
    )


def _read(path: Path) -> dict[str, Any]:
    from anchored._files import read_yaml

    try:
        return read_yaml(path, way_out="see the config.yaml of a run")
    except InputError as error:
        raise InputError(f"--config {error}") from None


def _absolute(data: Mapping[str, Any]) -> dict[str, str]:
    """Return those settings of ``data`` that are existing paths, made absolute."""
    from anchored.data import BUILT_IN

    paths = {name: data.get(name) for name in ("source", "root", "test", "corrections")}
    if str(data["source"]).lower().endswith(".npy"):
        paths["label"] = data.get("label")  # of an array the labels are a file, of a table a column
    return {
        name: str(Path(path).expanduser().absolute())
        for name, path in paths.items()
        if isinstance(path, str) and path and path not in BUILT_IN and Path(path).expanduser().exists()
    }  # what is not there is refused later, as it was written


def number_or_auto(text: str | None, *, flag: str) -> float | str | None:
    """Read a number, or the word ``auto``.

    Args:
        text: Value of the flag, or None.
        flag: Name of the flag, for the message.

    Returns:
        The number, ``"auto"``, or None if the flag was not given.

    Raises:
        InputError: It is neither.

    Example:
        >>> number_or_auto("0.4", flag="--noise-rate"), number_or_auto("auto", flag="--noise-rate")
        (0.4, 'auto')
    """
    if text is None or text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{flag} must be a number or auto, got {text!r}") from None

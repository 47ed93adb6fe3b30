"""Where the data of a run lies now, if it was moved since the run was made."""

from __future__ import annotations

from pathlib import Path

from anchored._errors import InputError
from anchored.data import BUILT_IN, FILE_ENDINGS
from anchored.training import DataConfig

__all__ = ["moved"]


def moved(config: DataConfig, root: str | Path | None) -> DataConfig:
    """Point the ``data`` part of a configuration at the place where the data lies now.

    A built-in data set is looked for below ``root``. Data that was a folder or a file is ``root`` itself, or lies in it
    under its old name. If the data has not moved, ``root`` is the folder that image paths in it start from.

    Args:
        config: The data as the run was told.
        root: The place now; None if nothing was moved.

    Returns:
        The settings to open; everything that decides the result is unchanged.

    Raises:
        InputError: Nothing of that kind is there, or the data needs no folder.

    Example:
        >>> import tempfile
        >>> place = tempfile.mkdtemp()
        >>> moved(DataConfig(source="mnist", root="/old"), place).root == place
        True
        >>> moved(DataConfig(source="digits"), "/new")
        Traceback (most recent call last):
        ...
        anchored._errors.InputError: --data-root /new is of no use for digits, which comes with scikit-learn; \
leave it out
    """
    if root is None:
        return config
    place = Path(root).expanduser().absolute()
    if config.source == "digits":
        raise InputError(f"--data-root {root} is of no use for digits, which comes with scikit-learn; leave it out")
    if not place.exists():
        raise InputError(f"--data-root {root}: there is no such file or folder")
    if config.source in BUILT_IN:
        return config.model_copy(update={"root": str(place)})
    source = _now(config.source, place)
    changes: dict[str, str | None] = {"source": str(source)}
    if config.test is not None and config.test not in BUILT_IN and not Path(config.test).exists():
        beside = (place if place.is_dir() else place.parent) / Path(config.test).name
        changes["test"] = str(beside)
    if config.root is not None and not Path(config.root).exists():
        changes["root"] = str(place if place.is_dir() else place.parent)
    elif source == Path(config.source) and place.is_dir() and source.is_file():
        changes["root"] = str(place)  # the table is where it was; its images are elsewhere
    return config.model_copy(update=changes)


def _now(source: str, place: Path) -> Path:
    before = Path(source)
    suffix = before.suffix.lower()
    if suffix not in FILE_ENDINGS:
        if not place.is_dir():
            raise InputError(f"--data-root {place} is a file, but the data of the run was the folder {source}")
        inside = place / before.name
        return inside if place.name != before.name and inside.is_dir() else place
    if place.is_file():
        if place.suffix.lower() != suffix:
            raise InputError(f"--data-root {place}: the data of the run was a {suffix} file; give the moved one")
        return place
    inside = place / before.name
    if inside.is_file():
        return inside
    if before.is_file():
        return before
    raise InputError(f"--data-root {place}: {before.name}, the data of the run, is not in it; give the moved file")

"""Atomic files: a file is either the old one or the whole new one, written beside it and moved into place."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from anchored._errors import InputError

__all__ = ["write_atomically", "write_json", "write_text"]


def write_atomically(path: str | Path, write: Callable[[Path], object]) -> None:
    """Call ``write`` with a temporary path beside ``path``, and move the file there only if it succeeded.

    A crash, a full disk or an exception at any moment leaves the old file (or none) as it was.

    Args:
        path: The file to write.
        write: Writes the file at the path that it is given.

    Raises:
        InputError: If the folder does not exist or cannot be written to.

    Example:
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_atomically(Path(folder) / "a.txt", lambda temporary: temporary.write_text("new"))
        ...     (Path(folder) / "a.txt").read_text()
        'new'
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: the folder {path.parent} does not exist; create it first")
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder; give the name of a file")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        with temporary.open("rb") as stream:
            os.fsync(stream.fileno())
        temporary.chmod(0o666 & ~_umask())  # mkstemp makes private files; a result is an ordinary one
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write ``text`` as UTF-8, atomically.

    Args:
        path: The file to write.
        text: Its content.
    """
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def write_json(path: str | Path, value: object) -> None:
    """Write ``value`` as readable JSON, atomically; NaN and infinity are refused, because they are not JSON.

    Args:
        path: The file to write.
        value: Anything that ``json`` can write.

    Example:
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_json(Path(folder) / "a.json", {"k": 10})
        ...     json.loads((Path(folder) / "a.json").read_text())
        {'k': 10}
    """
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def _umask() -> int:
    # The mask can only be read by setting it.
    mask = os.umask(0)
    os.umask(mask)
    return mask

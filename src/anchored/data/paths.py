"""A path read from a file stays below its root: neither ``..`` nor an absolute path leads out."""

from __future__ import annotations

import os
from pathlib import Path

from anchored._errors import InputError

__all__ = ["below"]


def below(root: Path, written: str, *, where: str) -> Path:
    """The file that ``written`` names below ``root``; refused when it would lie elsewhere.

    The check is on the words of the path, so links that the user put below the root are followed as they are.

    Example:
        >>> below(Path("/data"), "cat/1.png", where="list.txt, row 1").as_posix()
        '/data/cat/1.png'
    """
    base = os.path.abspath(root)
    path = os.path.normpath(os.path.join(base, written))
    if not written or "\0" in written or (path != base and os.path.commonpath([base, path]) != base) or path == base:
        raise InputError(
            f"{where}: a path must lead to a file below {root}, got {written!r}; change it, or give another root"
        )
    return Path(path)

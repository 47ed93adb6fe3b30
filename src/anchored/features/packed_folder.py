"""A folder of small files as tensors of bytes, and back: how a model of another library travels with ours."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import torch
from torch import Tensor

from anchored._errors import InputError

__all__ = ["pack", "unpack"]

_FRONT, _ENDINGS = "file:", frozenset({".json", ".txt", ".safetensors", ".model"})


def pack(folder: str | Path) -> dict[str, Tensor]:
    """Read the files of a folder that describe a model: JSON, vocabularies and safetensors.

    Args:
        folder: The folder; files of other kinds, such as a README, are left out.

    Returns:
        Bytes ``(n,)`` by ``file:`` and the relative path.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "a.json").write_text("{}")
        >>> list(pack(folder))
        ['file:a.json']
    """
    folder = Path(folder)
    return {
        f"{_FRONT}{path.relative_to(folder).as_posix()}": torch.frombuffer(
            bytearray(path.read_bytes()), dtype=torch.uint8
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix in _ENDINGS and path.stat().st_size
    }


def unpack(tensors: Mapping[str, Tensor], folder: str | Path) -> None:
    """Write packed files below a folder.

    Args:
        tensors: What :func:`pack` returned.
        folder: An existing folder.

    Raises:
        InputError: If a name leads out of the folder or is not of the allowed kinds.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> unpack({"file:a.json": torch.tensor([123, 125], dtype=torch.uint8)}, folder)
        >>> Path(folder, "a.json").read_text()
        '{}'
    """
    for name, content in tensors.items():
        path = PurePosixPath(name.removeprefix(_FRONT))
        if not name.startswith(_FRONT) or path.is_absolute() or ".." in path.parts or path.suffix not in _ENDINGS:
            raise InputError(f"the stored encoder holds {name!r}, which may not be written; make the model again")
        target = Path(folder, *path.parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.to(torch.uint8).numpy().tobytes())

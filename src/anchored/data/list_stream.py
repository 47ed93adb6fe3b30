"""List files read a chunk at a time: the images of :func:`~anchored.data.load_list`, for prediction.

A label behind a path is not looked at. A path that leads nowhere is an error of its row.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from anchored._errors import InputError
from anchored.data.chunk import Chunk, chunk_size, image_chunks
from anchored.data.listfile import _parse

__all__ = ["LISTS", "stream_list"]

LISTS = (".txt", ".lst")
"""How the names of lists end."""


def stream_list(
    path: str | Path, *, shape: tuple[int, ...], root: str | Path | None = None, size: int | None = None
) -> Iterator[Chunk]:
    """The images that a list names, for a model that takes inputs of ``shape``.

    Args:
        path: The list; blank lines do not count.
        shape: The model's input ``(c, h, w)``.
        root: Where its paths start; by default its own folder.
        size: Images per chunk; by default what :func:`~anchored.data.chunk.chunk_size` says.
    """
    path = Path(path)
    if len(shape) != 3:
        raise InputError(f"{path} is a list of images, but the model takes vectors of {shape[0]} features")
    size = size or chunk_size(shape)
    rows = _rows(path)
    first = next(rows, None)
    if first is None:
        raise InputError(f"{path}: the list names no file; write one path per line")

    def blocks() -> Iterator[list[tuple[int, str | InputError]]]:
        rows = _rows(path)
        while block := list(islice(rows, size)):
            yield block

    return image_chunks(blocks(), where=path, root=Path(root or path.parent), shape=shape)


def _rows(path: Path) -> Iterator[tuple[int, str | InputError]]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            for row, line in enumerate(file, start=1):
                if line.strip():
                    yield row, _parse(line.strip(), f"{path}, row {row}", "ignored")[0]
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None

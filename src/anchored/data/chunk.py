"""Data in chunks: some consecutive samples at a time, each with its inputs or with the reason why it has none.

Training refuses data in which one sample cannot be read. Prediction does not: the sample is named, the others go on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored.data.dataset import Dataset
from anchored.data.file_inputs import FileInputs, below
from anchored.data.inputs import Inputs

__all__ = ["Chunk", "Read", "chunk_size", "chunks", "image_chunks", "read_each"]

_VALUES = 2**20
_ROWS = 4096
_THREADS = 4
Read = Callable[[Inputs, Tensor], tuple[Tensor, dict[int, str]]]
"""How the inputs at some places are read: those that can be, in order, and by place why the others cannot."""


@dataclass(frozen=True, eq=False)
class Chunk:
    """Consecutive samples.

    Args:
        ids: What a user calls them.
        inputs: ``(m, *shape)``, of those that could be read, in order.
        errors: Why the others could not, by their place in ``ids``; ``m + len(errors) == len(ids)``.

    Example:
        >>> chunk = Chunk(["a.png", "b.png"], torch.zeros(1, 3, 8, 8), {0: "a.png: damaged"})
        >>> len(chunk.ids), len(chunk.inputs)
        (2, 1)
    """

    ids: Sequence[str]
    inputs: Tensor
    errors: Mapping[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.inputs) + len(self.errors) != len(self.ids):
            raise InputError(
                f"a chunk needs an input or an error for each of its {len(self.ids)} samples, "
                f"got {len(self.inputs)} and {len(self.errors)}"
            )


def chunk_size(shape: tuple[int, ...]) -> int:
    """Choose how many samples to take at a time: a million values, at most 4096 samples.

    Networks hold some hundred numbers per input value at a time, so a chunk takes a few hundred megabytes at most.

    Example:
        >>> chunk_size((20,)), chunk_size((1, 28, 28)), chunk_size((3, 224, 224))
        (4096, 1337, 6)
    """
    return min(_ROWS, max(1, _VALUES // math.prod(shape)))


def chunks(dataset: Dataset, *, size: int | None = None, read: Read | None = None) -> Iterator[Chunk]:
    """Go through a data set from front to back.

    Args:
        dataset: Any data set of images or vectors; of anything, if ``read`` turns it into numbers.
        size: Samples per chunk; by default :func:`chunk_size`.
        read: Reads the inputs, for instance by encoding them; by default they are taken as they are.

    Returns:
        The chunks in order; an image that cannot be read is an error in its chunk.

    Example:
        >>> from anchored.data import TensorInputs
        >>> data = Dataset("toy", TensorInputs(torch.zeros(5, 2)), torch.full((5,), -1), ())
        >>> [list(chunk.ids) for chunk in chunks(data, size=3)]
        [['row 0', 'row 1', 'row 2'], ['row 3', 'row 4']]
    """
    for index in torch.split(torch.arange(len(dataset)), size or chunk_size(dataset.inputs.shape)):
        ids = [dataset.ids[i] for i in index.tolist()]
        if read is not None or isinstance(dataset.inputs, FileInputs):
            yield Chunk(ids, *(read or read_each)(dataset.inputs, index))
        else:
            yield Chunk(ids, dataset.inputs.take(index))


def image_chunks(
    written: Iterable[list[tuple[int, str | InputError]]],
    *,
    where: Path,
    root: Path,
    shape: tuple[int, ...],
    read: Read | None = None,
) -> Iterator[Chunk]:
    """Read the images that a table or a list names.

    Args:
        written: Some rows at a time: the number of each, and the path that stands there or what is wrong with the row.
        where: The file that names them.
        root: The folder that paths start in; one that leads out of it is an error of its row.
        shape: ``(c, h, w)`` to bring the images to.
        read: Reads the images, for instance by encoding them; by default they are decoded.

    Returns:
        A chunk for each list of rows.
    """
    for rows in written:
        ids: list[str] = []
        files: list[Path] = []
        places: list[int] = []
        errors: dict[int, str] = {}
        for place, (row, path) in enumerate(rows):
            ids.append(path if isinstance(path, str) else f"row {row}")
            try:
                if isinstance(path, InputError):
                    raise path
                files.append(below(root, path, where=f"{where}, row {row}"))
                places.append(place)
            except InputError as error:
                errors[place] = str(error)
        images = FileInputs(files, (shape[0], shape[1], shape[2]))
        pixels, unread = (read or read_each)(images, torch.arange(len(files)))
        yield Chunk(ids, pixels, errors | {places[i]: reason for i, reason in unread.items()})


def read_each(inputs: Inputs, index: Tensor) -> tuple[Tensor, dict[int, str]]:
    """Read inputs one by one, so that one that cannot be read does not stop the others.

    Args:
        inputs: Where to read.
        index: Places ``(b,)`` of the inputs wanted.

    Returns:
        The inputs that can be read, in order, and by place in ``index`` why the others cannot.

    Example:
        >>> rows, errors = read_each(FileInputs(["gone.png"], (1, 8, 8)), torch.tensor([0]))
        >>> rows.shape, errors
        (torch.Size([0, 1, 8, 8]), {0: 'gone.png: there is no such file'})
    """

    def one(i: Tensor) -> Tensor | str:
        try:
            return inputs.take(i)
        except InputError as error:
            return str(error)

    with ThreadPoolExecutor(_THREADS) as pool:  # decoding an image leaves Python to the other threads
        read = list(pool.map(one, index[:, None]))
    errors = {place: each for place, each in enumerate(read) if isinstance(each, str)}
    good = [each for each in read if not isinstance(each, str)]
    return torch.cat(good) if good else torch.empty(0, *inputs.shape), errors

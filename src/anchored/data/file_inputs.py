"""Images that stay on disk and are decoded when a batch asks for them; and the choice between disk and memory.

A path that was read from a list or table stays below its root: neither ``..`` nor an absolute path leads out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from anchored._errors import InputError
from anchored._progress import Work
from anchored.data.augment import RandomResizedCrop
from anchored.data.images import ImageHead, fit_image, open_image, read_head
from anchored.data.inputs import Inputs, TensorInputs

__all__ = ["MEMORY_LIMIT", "FileInputs", "below", "choose_shape", "files_below", "image_inputs", "keep_in_memory"]

MEMORY_LIMIT = 2**30
"""Bytes of pixels up to which images are decoded once and kept in memory."""
_LARGEST_DEFAULT_SIDE = 224
_SCAN_LIMIT = 200_000


class FileInputs:
    """Images on disk, decoded on demand.

    Args:
        paths: One file per sample.
        shape: ``(c, h, w)`` that every image is brought to: resized to cover it, then cut at the centre.
        resize: How much larger than the target the image is made before the cut; by default 256/224 for sides of 224
            and more (the usual evaluation of large images) and 1 below.

    Example:
        >>> inputs = FileInputs(["a.png", "b.png"], (3, 32, 32))         # no file is opened yet
        >>> len(inputs), inputs.shape, inputs.in_memory
        (2, (3, 32, 32), False)
    """

    def __init__(
        self, paths: Sequence[str | Path], shape: tuple[int, int, int], *, resize: float | None = None
    ) -> None:
        if shape[0] not in (1, 3) or min(shape) < 1:
            raise InputError(f"the shape of images must be (1 or 3, height, width), got {shape}")
        self.paths = [os.fspath(path) for path in paths]
        self._shape = shape
        self.resize = (256 / 224 if min(shape[1:]) >= 224 else 1.0) if resize is None else resize

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        return self._shape

    @property
    def in_memory(self) -> bool:
        """Never: each batch opens its files."""
        return False

    def __len__(self) -> int:
        return len(self.paths)

    def take(self, index: Tensor) -> Tensor:
        """Decode the images at ``index`` to ``(b, c, h, w)`` uint8, as evaluation sees them."""
        c, h, w = self._shape
        out = np.empty((len(index), c, h, w), dtype=np.uint8)
        for row, i in enumerate(index.tolist()):
            out[row] = fit_image(open_image(self.paths[i], c), h, w, self.resize)
        return torch.from_numpy(out)

    def take_cropped(self, index: Tensor, crop: RandomResizedCrop, uniforms: Tensor) -> Tensor:
        """Cut a random window out of each image, from the original before anything was resized.

        Args:
            index: Places ``(b,)`` of the images.
            crop: How windows are chosen.
            uniforms: ``(b, crop.draws)`` in [0, 1).

        Returns:
            Windows ``(b, c, size, size)`` uint8.
        """
        c = self._shape[0]
        out = np.empty((len(index), c, crop.size, crop.size), dtype=np.uint8)
        for row, i in enumerate(index.tolist()):
            image = open_image(self.paths[i], c)
            size = torch.tensor([image.height]), torch.tensor([image.width])
            top, left, height, width = crop.boxes(uniforms[row : row + 1], *size)[0].tolist()
            window = image.resize(
                (crop.size, crop.size), Image.Resampling.BILINEAR, box=(left, top, left + width, top + height)
            )
            out[row] = fit_image(window, crop.size, crop.size)
        return torch.from_numpy(out)

    def subset(self, index: Tensor) -> FileInputs:
        """Return the files at ``index``."""
        c, h, w = self._shape[0], self._shape[1], self._shape[2]
        return FileInputs([self.paths[i] for i in index.tolist()], (c, h, w), resize=self.resize)


def below(root: Path, written: str, *, where: str) -> Path:
    """Find the file that ``written`` names below ``root``; it need not be there.

    The check is on the words of the path, so links that the user put below the root are followed as they are.

    Args:
        root: The folder that paths start in.
        written: The path as it stands in a list or table.
        where: The file and row it stands in, for a refusal.

    Raises:
        InputError: If the path would lead out of ``root``.

    Example:
        >>> below(Path("/data"), "cat/1.png", where="list.txt, row 1").as_posix()
        '/data/cat/1.png'
    """
    base = os.path.abspath(root)
    path = os.path.normpath(os.path.join(base, written))
    if not written or "\0" in written or path == base or os.path.commonpath([base, path]) != base:
        raise InputError(
            f"{where}: a path must lead to a file below {root}, got {written!r}; change it, or give another root"
        )
    return Path(path)


def files_below(root: Path, written: Sequence[str], *, where: Callable[[int], str]) -> list[Path]:
    """Find the files that a list or table names; all must be there.

    Args:
        root: The folder that paths start in.
        written: The paths as they stand in the list or table.
        where: Names the file and row of path ``i``, for a refusal.

    Returns:
        One path per entry of ``written``.

    Raises:
        InputError: If a path would lead out of ``root``, or there is no file.
    """
    paths = [below(root, path, where=where(i)) for i, path in enumerate(written)]
    for i, path in enumerate(paths):
        if not path.is_file():
            raise InputError(
                f"{where(i)}: there is no file {path}; "
                f"correct the path, or give the folder its paths start in as --data-root"
            )
    return paths


def choose_shape(heads: Sequence[ImageHead], *, side: int | None = None) -> tuple[int, int, int]:
    """Choose the shape that images of these sizes are brought to.

    Grey if all are grey. Their own size if they all agree and it is at most 224; otherwise a square whose side is the
    median of the shorter sides, at most 224.

    Args:
        heads: Size and channels of each image.
        side: Side of the square, if another one is wanted.

    Returns:
        ``(c, h, w)``.

    Example:
        >>> choose_shape([ImageHead(28, 28, 1)] * 3), choose_shape([ImageHead(480, 640, 3), ImageHead(90, 80, 3)])
        ((1, 28, 28), (3, 80, 80))
    """
    channels = max(head.channels for head in heads)
    if side is not None:
        return channels, side, side
    sizes = {(head.height, head.width) for head in heads}
    if len(sizes) == 1 and max(height_width := next(iter(sizes))) <= _LARGEST_DEFAULT_SIDE:
        return channels, *height_width
    shorter = sorted(min(head.height, head.width) for head in heads)
    middle = min(shorter[(len(shorter) - 1) // 2], _LARGEST_DEFAULT_SIDE)
    return channels, middle, middle


def image_inputs(
    paths: Sequence[Path],
    *,
    shape: tuple[int, ...] | None = None,
    side: int | None = None,
    memory_limit: int = MEMORY_LIMIT,
) -> Inputs:
    """Open image files as inputs: decoded into memory if they fit, left on disk otherwise.

    The head of every file is read first (of a very large set: a regular sample), so an unreadable or huge one is named
    now; not with a given ``shape`` and a ``memory_limit`` of zero, when each file is opened only as it is asked for.

    Args:
        paths: The files, at least one.
        shape: ``(c, h, w)`` to bring the images to; by default :func:`choose_shape`.
        side: Side of the squares to bring them to, if ``shape`` is not given.
        memory_limit: Bytes of pixels up to which they are kept in memory.

    Returns:
        :class:`TensorInputs` if they fit into memory, :class:`FileInputs` otherwise.

    Raises:
        InputError: If a file is no image that can be read, or the model takes no images.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "grey.png")
        >>> Image.new("L", (12, 8)).save(path)
        >>> image_inputs([path]).shape, image_inputs([path], side=4).shape
        ((1, 8, 12), (1, 4, 4))
    """
    if shape is not None and len(shape) != 3:
        takes = f"vectors of {shape[0]} features; give it a table or arrays" if shape else "texts or rows of a table"
        raise InputError(f"{paths[0]} is an image, but the model takes {takes}")
    if shape is not None and memory_limit == 0:
        return FileInputs(paths, (shape[0], shape[1], shape[2]))
    step = -(-len(paths) // _SCAN_LIMIT)
    scanned = paths[::step]
    work, heads = Work("reading the sizes of images", len(scanned)), []
    for path in scanned:
        heads.append(read_head(path))
        work.step()
    target = choose_shape(heads, side=side) if shape is None else (shape[0], shape[1], shape[2])
    return keep_in_memory(FileInputs(paths, target), memory_limit=memory_limit)


def keep_in_memory(files: FileInputs, *, memory_limit: int = MEMORY_LIMIT) -> Inputs:
    """Decode images into memory if they fit.

    Args:
        files: Images on the disk.
        memory_limit: Bytes of pixels up to which they are kept in memory.

    Returns:
        The pixels, or ``files`` as they are.

    Example:
        >>> keep_in_memory(FileInputs(["large.png"], (3, 224, 224)), memory_limit=1000).in_memory
        False
    """
    if len(files) * int(np.prod(files.shape)) > memory_limit:
        return files
    chunks = torch.arange(len(files)).tensor_split(max(1, len(files) // 64))
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        work, decoded = Work("reading images", len(files)), []
        for part in pool.map(files.take, chunks):
            decoded.append(part)
            work.step(len(part))
        return TensorInputs(torch.cat(decoded))

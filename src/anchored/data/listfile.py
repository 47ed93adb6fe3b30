"""List files, as ImageNet-LT, Places-LT and WebVision come: ``path label`` per line, the label a whole number.

The numbers are the class ids of the whole benchmark, so they are kept as they are: k is the largest one plus one.
WebVision-mini is the list cut to labels below 50. :func:`load_list` reads a list whole, for training; prediction reads
it a chunk at a time (:func:`stream_list`), looks at no label, and takes a path that leads nowhere as an error of its
row.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import torch

from anchored._checks import check_integer
from anchored._errors import InputError
from anchored.data.chunk import Chunk, Read, chunk_size, image_chunks
from anchored.data.dataset import Dataset, Split
from anchored.data.file_inputs import MEMORY_LIMIT, files_below, image_inputs
from anchored.data.labels import LabelPolicy, encode_labels, review_if_trained_on

__all__ = ["LISTS", "load_list", "stream_list"]

LISTS = (".txt", ".lst")
"""Endings of the names of lists."""
_LARGE = 20_000
_LONGEST_LABEL = 6


def load_list(
    path: str | Path,
    *,
    root: str | Path | None = None,
    below_label: int | None = None,
    class_names: tuple[str, ...] | None = None,
    labels: LabelPolicy = "required",
    shape: tuple[int, ...] | None = None,
    side: int | None = None,
    memory_limit: int = MEMORY_LIMIT,
) -> Split:
    r"""Open the images that a list file names.

    Args:
        path: The list; blank lines do not count.
        root: The folder its paths start in; by default its own.
        below_label: Keep only labels below this number, e.g. 50 for WebVision-mini.
        class_names: The names known from training, for data to be predicted or evaluated.
        labels: Whether labels are needed; otherwise a line may be a path alone.
        shape: ``(c, h, w)`` to bring the images to. Lists of more than 20,000 files are not looked through for it, but
            taken as ``(3, 224, 224)``.
        side: Side of the squares to bring the images to, if ``shape`` is not given.
        memory_limit: Bytes of pixels up to which they are kept in memory.

    Returns:
        The images as a training part without a test part; each is called by its path in the list.

    Raises:
        InputError: If a line, a label or a file is not as it should be; the message names the row.

    Example:
        >>> import tempfile
        >>> from PIL import Image
        >>> folder = Path(tempfile.mkdtemp())
        >>> for name in ("a.png", "b.png"):
        ...     Image.new("L", (8, 8)).save(folder / name)
        >>> _ = (folder / "list.txt").write_text("a.png 0\nb.png 2\n")
        >>> data = load_list(folder / "list.txt").train
        >>> data.class_names, data.labels.tolist(), data.inputs.shape
        (('0', '1', '2'), [0, 2], (1, 8, 8))
    """
    path = Path(path)
    if below_label is not None:
        check_integer("below_label", below_label, low=2)
    ids: list[str] = []
    given: list[int | None] = []
    rows: list[int] = []

    def where(i: int) -> str:
        return f"{path}, row {rows[i]}"

    for row, written, label in _entries(path, labels):
        if below_label is None or label is None or label < below_label:
            ids.append(written)
            given.append(label)
            rows.append(row)
    if not ids:
        kept = "" if below_label is None else f" with a label below {below_label}"
        raise InputError(f"{path}: the list names no file{kept}; write one `path label` per line")
    if class_names is None:
        codes = [-1 if label is None else label for label in given]
        encoded, names = torch.tensor(codes), tuple(str(i) for i in range(max(codes) + 1))
    else:
        partly = None in given  # labels of some lines alone say nothing about which classes there are
        text = [None if partly else str(label) for label in given]
        encoded, names = encode_labels(text, class_names, where=where)
    files = files_below(Path(root) if root is not None else path.parent, ids, where=where)
    if len(files) > _LARGE:
        shape, memory_limit = (3, side or 224, side or 224) if shape is None else shape, 0
    inputs = image_inputs(files, shape=shape, side=side, memory_limit=memory_limit)
    dataset = Dataset(name=path.stem, inputs=inputs, labels=encoded, class_names=names, ids=ids)
    return Split(review_if_trained_on(dataset, class_names, labels, where=path))


def stream_list(
    path: str | Path,
    *,
    shape: tuple[int, ...],
    root: str | Path | None = None,
    size: int | None = None,
    read: Read | None = None,
) -> Iterator[Chunk]:
    r"""Read the images that a list names a chunk at a time, for a model that takes inputs of ``shape``.

    Args:
        path: The list; blank lines do not count, labels are not looked at.
        shape: The model's input ``(c, h, w)``.
        root: The folder its paths start in; by default its own.
        size: Images per chunk; by default :func:`~anchored.data.chunk.chunk_size`.
        read: Reads the images, for instance by encoding them; by default they are decoded.

    Returns:
        The chunks, in the order of the list; an image that cannot be read is an error in its chunk.

    Raises:
        InputError: If the list cannot be read or names no file, before the first chunk.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "list.txt")
        >>> _ = path.write_text("gone.png 3\n")
        >>> [(list(chunk.ids), len(chunk.errors)) for chunk in stream_list(path, shape=(1, 8, 8))]
        [(['gone.png'], 1)]
    """
    path = Path(path)
    if len(shape) != 3:
        takes = f"vectors of {shape[0]} features" if shape else "texts or rows of a table"
        raise InputError(f"{path} is a list of images, but the model takes {takes}")
    size = size or chunk_size(shape)
    if next(_entries(path, "ignored"), None) is None:
        raise InputError(f"{path}: the list names no file; write one path per line")

    def blocks() -> Iterator[list[tuple[int, str | InputError]]]:
        entries = _entries(path, "ignored")
        while block := [(row, written) for row, written, _ in islice(entries, size)]:
            yield [*block]

    return image_chunks(blocks(), where=path, root=Path(root or path.parent), shape=shape, read=read)


def _entries(path: Path, labels: LabelPolicy) -> Iterator[tuple[int, str, int | None]]:
    """Row, path and label of each line that is not blank."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            for row, line in enumerate(file, start=1):
                if line.strip():
                    yield row, *_parse(line.strip(), f"{path}, row {row}", labels)
    except FileNotFoundError:
        raise InputError(f"{path}: cannot be read (there is no such file)") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None


def _parse(line: str, where: str, labels: LabelPolicy) -> tuple[str, int | None]:
    # The label is the last word, as a path may hold spaces; if there is a tab, it is what follows the last one.
    written, _, last = line.rpartition("\t" if "\t" in line else " ")
    if last.isascii() and last.isdigit() and written:
        if labels != "ignored" and len(last) > _LONGEST_LABEL:
            raise InputError(f"{where}: a label is the number of a class, below 1,000,000, got {last[:30]}; correct it")
        return written.strip(), None if labels == "ignored" else int(last)
    if labels == "required":
        raise InputError(f"{where}: a line must be `path label` with a whole number, got {line!r}; add the label")
    return line, None

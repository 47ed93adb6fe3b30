"""A folder of class folders: ``DATA/cat/1.png``, or ``DATA/train/cat/1.png`` beside ``DATA/test/cat/2.png``.

The files are images, or texts in ``.txt`` files; a folder with both is refused. The class is the name of its folder,
verbatim; files may lie deeper below it. For prediction a flat folder of files does as well.

One walk finds all files, in the order of their names. Only regular files count (opening a pipe would wait for ever).
Links are followed within the folder that was given; one that leads out of it or back to where it came from is refused.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from anchored._errors import InputError
from anchored.data.dataset import Dataset, Split
from anchored.data.duplicates import note_duplicates
from anchored.data.file_inputs import MEMORY_LIMIT, image_inputs
from anchored.data.images import IMAGE_SUFFIXES
from anchored.data.inputs import Inputs
from anchored.data.labels import LabelPolicy, encode_labels, review_if_trained_on
from anchored.data.text import TEXT_SUFFIXES, read_texts

__all__ = ["load_folder"]

_TEST_NAMES = ("test", "val", "valid", "validation")
_DUPLICATE_LIMIT = 100_000
_KINDS = {"image": IMAGE_SUFFIXES, "text": TEXT_SUFFIXES}


def load_folder(
    path: str | Path,
    *,
    class_names: tuple[str, ...] | None = None,
    labels: LabelPolicy = "required",
    shape: tuple[int, ...] | None = None,
    side: int | None = None,
    memory_limit: int = MEMORY_LIMIT,
) -> Split:
    """Open the images or texts below ``path``, labelled by the folders they are in.

    Args:
        path: A folder of class folders, or one with ``train`` and ``test`` (or ``val``) folders of class folders.
        class_names: The names known from training, for data to be predicted or evaluated.
        labels: Whether labels are needed; without need, a flat folder of files will do.
        shape: ``(c, h, w)`` to bring images to, by default chosen from their sizes; ``()`` asks for texts.
        side: Side of the squares to bring images to, if ``shape`` is not given.
        memory_limit: Bytes of pixels up to which images are kept in memory. Texts always are.

    Returns:
        The training part, and the test part if there is one; each sample is called by its path below ``path``.

    Raises:
        InputError: If there is nothing to learn from, a file cannot be read, images and texts are mixed, or a link
            leads out of the folder.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> for name, text in (("bad/1.txt", "dull"), ("good/1.txt", "a joy"), ("good/2.txt", "well made")):
        ...     (folder / name).parent.mkdir(exist_ok=True)
        ...     _ = (folder / name).write_text(text)
        >>> data = load_folder(folder).train
        >>> data.kind, data.class_names, data.ids[1], data.inputs.texts[1]
        ('texts', ('bad', 'good'), 'good/1.txt', 'a joy')
    """
    path = Path(path)
    if not path.is_dir():
        raise InputError(f"{path}: there is no such folder")
    part = partial(_part, labels=labels, side=side, memory_limit=memory_limit)
    top = _Place(path, path, (os.path.realpath(path),))
    parts = {place.folder.name: place for place in _entries(top)[1]}
    if "train" not in parts or not set(parts) <= {"train", *_TEST_NAMES}:
        return Split(part(top, class_names, shape=shape))
    train = part(parts["train"], class_names, shape=shape)
    test_name = next((name for name in _TEST_NAMES if name in parts), None)
    if test_name is None:
        return Split(train)
    return Split(train, part(parts[test_name], train.class_names, shape=train.inputs.shape))


@dataclass(frozen=True)
class _Place:
    """A folder on a walk: the folder that the walk must not leave, and the real paths of those it came through."""

    root: Path
    folder: Path
    real: tuple[str, ...]


@dataclass
class _Files:
    """Regular files in the order of the walk, and what else was met."""

    files: list[Path] = field(default_factory=list)
    odd: list[Path] = field(default_factory=list)


def _entries(place: _Place) -> tuple[_Files, list[_Place]]:
    """The files and the folders directly in a folder, both in the order of their names; hidden ones do not count."""
    try:
        with os.scandir(place.folder) as found:
            entries = sorted((entry for entry in found if not entry.name.startswith(".")), key=lambda e: e.name)
    except OSError as error:
        raise InputError(f"{place.folder}: cannot be read ({error.strerror or error})") from None
    here, folders = _Files(), []
    for entry in entries:
        path = place.folder / entry.name
        real = _target(path, place.root) if entry.is_symlink() else os.path.join(place.real[-1], entry.name)
        if entry.is_dir():
            if real in place.real:
                raise InputError(f"{path}: the link leads back to {real}, which holds it; remove the link")
            folders.append(_Place(place.root, path, (*place.real, real)))
        else:
            (here.files if entry.is_file() else here.odd).append(path)
    return here, folders


def _target(link: Path, root: Path) -> str:
    """Where a link leads, which must be in ``root``."""
    real, base = os.path.realpath(link), os.path.realpath(root)
    if not os.path.exists(real):
        raise InputError(f"{link}: the link leads nowhere; remove it")
    if os.path.commonpath([base, real]) != base:
        raise InputError(
            f"{link}: the link leads out of {root}, to {real}; copy the data with `cp -rL`, or remove the link"
        )
    return real


def _below(place: _Place) -> _Files:
    """All files below a folder: its own first, then those of each folder in it."""
    found, ahead = _Files(), [place]
    while ahead:
        here, folders = _entries(ahead.pop())
        found.files += here.files
        found.odd += here.odd
        ahead += reversed(folders)
    return found


def _of(noun: str, files: Sequence[Path]) -> list[Path]:
    return [file for file in files if file.suffix.lower() in _KINDS[noun]]


def _noun(folder: Path, root: Path, files: Sequence[Path], shape: tuple[int, ...] | None) -> str:
    """What the files are, ``"image"`` or ``"text"``: what the model takes, or else what there is."""
    if shape is not None and len(shape) != 1:
        return "image" if shape else "text"
    images, texts = _of("image", files), _of("text", files)
    if images and texts:
        raise InputError(
            f"{folder}: {len(images)} images (such as {_name(images[0], root)}) and {len(texts)} texts (such as "
            f"{_name(texts[0], root)}) are mixed; leave files of one kind in the class folders"
        )
    return "text" if texts else "image"


def _name(path: Path, root: Path) -> str:
    return _printable(path.relative_to(root).as_posix())


def _printable(text: str) -> str:
    # File names are bytes; those that are no UTF-8 come as lone surrogates, which no report or JSON file can hold.
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _part(
    place: _Place,
    class_names: tuple[str, ...] | None,
    *,
    labels: LabelPolicy,
    shape: tuple[int, ...] | None,
    side: int | None,
    memory_limit: int,
) -> Dataset:
    root, folder = place.root, place.folder
    top, class_folders = _entries(place)
    classes = [(entry.folder, _below(entry)) for entry in class_folders]
    inside = [file for _, found in classes for file in found.files]
    noun = _noun(folder, root, inside if any(_of(noun, inside) for noun in _KINDS) else top.files, shape)
    way_out = f"put each class's {noun}s in a folder named after it"
    loose = _of(noun, top.files)
    if not class_folders and not loose:
        raise InputError(f"{folder}: the folder holds no images or texts (.txt); {way_out}")
    if not class_folders and labels == "required":
        raise InputError(f"{folder}: {len(loose)} {noun}s but no class folders; {way_out}")
    paths: list[Path] = []
    given: list[str | None] = []
    notes: list[str] = []
    for class_folder, found in classes:
        files = _of(noun, found.files)
        if not files:
            notes.append(f"{class_folder.relative_to(root)}: no {noun}s in this folder, so no such class")
        paths += files
        given += [_printable(class_folder.name)] * len(files)
    if not paths and not loose:
        endings = ", ".join(sorted(IMAGE_SUFFIXES | TEXT_SUFFIXES))
        raise InputError(f"{folder}: its class folders hold no images or texts ({endings})")
    others = len(inside) - len(paths)

    if labels == "ignored" or (labels == "optional" and not set(class_names or ()).intersection(given)):
        paths = loose + paths
        given = [None] * len(paths)
    elif loose:
        notes.append(f"{len(loose)} {noun}s directly in {folder} were left out: they are in no class folder")
    ids = [_name(path, root) for path in paths]
    codes, names = encode_labels(given, class_names, where=lambda row: f"{paths[row].parent} ({ids[row]})")
    if others:
        notes.append(f"{others} files that are not {noun}s were left out")
    odd = [*top.odd, *(path for _, found in classes for path in found.odd)]
    if odd:
        notes.append(f"{len(odd)} pipes, sockets or devices were left out, e.g. {_name(odd[0], root)}")
    inputs: Inputs
    if noun == "image":
        inputs = image_inputs(paths, shape=shape, side=side, memory_limit=memory_limit)
    else:
        inputs = read_texts(paths)
        empty = [name for name, text in zip(ids, inputs.texts, strict=True) if not text.strip()]
        if empty:
            notes.append(f"{len(empty)} texts are empty, e.g. {empty[0]}")
    if len(paths) <= _DUPLICATE_LIMIT:
        notes += note_duplicates(paths, ids, codes, noun=noun)
    dataset = Dataset(
        name=_printable(root.resolve().name),
        inputs=inputs,
        labels=codes,
        class_names=names,
        ids=ids,
        notes=tuple(notes),
    )
    return review_if_trained_on(dataset, class_names, labels, where=folder)

"""A folder of class folders: ``DATA/cat/1.png``, or ``DATA/train/cat/1.png`` beside ``DATA/test/cat/2.png``.

The folder's name is the class, verbatim; images may lie deeper below it. Links are followed, each folder at most once,
so a loop of links ends. For prediction a flat folder of images does as well.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import torch

from anchored._errors import InputError
from anchored.data.dataset import UNLABELLED, Dataset, Split
from anchored.data.duplicates import note_duplicates
from anchored.data.file_inputs import MEMORY_LIMIT, image_inputs
from anchored.data.images import IMAGE_SUFFIXES
from anchored.data.labels import LabelPolicy, encode_labels, review_classes

__all__ = ["load_folder"]

_TEST_NAMES = ("test", "val", "valid", "validation")
_DUPLICATE_LIMIT = 100_000


def _printable(text: str) -> str:
    # File names are bytes; those that are no UTF-8 come as lone surrogates, which no report or JSON file can hold.
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _visible(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise InputError(f"{folder}: cannot be read ({error.strerror or error})") from None


def _images_below(folder: Path) -> tuple[list[Path], int]:
    """Image files below ``folder`` in order, and the number of other files."""
    found: list[Path] = []
    others, seen = 0, set()
    for place, folders, files in os.walk(folder, followlinks=True):
        about = Path(place).stat()
        if (about.st_dev, about.st_ino) in seen:
            folders.clear()
            continue
        seen.add((about.st_dev, about.st_ino))
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if Path(name).suffix.lower() in IMAGE_SUFFIXES and not name.startswith("."):
                found.append(Path(place, name))
            else:
                others += not name.startswith(".")
    return found, others


def load_folder(
    path: str | Path,
    *,
    class_names: tuple[str, ...] | None = None,
    labels: LabelPolicy = "required",
    shape: tuple[int, ...] | None = None,
    side: int | None = None,
    memory_limit: int = MEMORY_LIMIT,
) -> Split:
    """The images below ``path``, labelled by the folders they are in.

    Args:
        path: A folder of class folders, or one with ``train`` and ``test`` (or ``val``) folders of class folders.
        class_names: The names known from training, for data to be predicted or evaluated.
        labels: Whether labels are needed; without need, a flat folder of images will do.
        shape: ``(c, h, w)`` to bring the images to; by default chosen from their sizes.
        side: Ask for squares of this side.
        memory_limit: Bytes of pixels up to which they are kept in memory.
    """
    path = Path(path)
    if not path.is_dir():
        raise InputError(f"{path}: there is no such folder")
    part = partial(_part, path, labels=labels, side=side, memory_limit=memory_limit)
    names = {entry.name for entry in _visible(path) if entry.is_dir()}
    if "train" not in names or not names <= {"train", *_TEST_NAMES}:
        return Split(part(path, class_names, shape=shape))
    train = part(path / "train", class_names, shape=shape)
    test_name = next((name for name in _TEST_NAMES if name in names), None)
    if test_name is None:
        return Split(train)
    return Split(train, part(path / test_name, train.class_names, shape=train.inputs.shape))


def _part(
    root: Path,
    folder: Path,
    class_names: tuple[str, ...] | None,
    *,
    labels: LabelPolicy,
    shape: tuple[int, ...] | None,
    side: int | None,
    memory_limit: int,
) -> Dataset:
    entries = _visible(folder)
    class_folders = [entry for entry in entries if entry.is_dir()]
    loose = [entry for entry in entries if entry.is_file() and entry.suffix.lower() in IMAGE_SUFFIXES]
    if not class_folders and not loose:
        raise InputError(f"{folder}: the folder holds no images; put each class's images in a folder named after it")
    if not class_folders and labels == "required":
        raise InputError(
            f"{folder}: {len(loose)} images but no class folders; put each class's images in a folder named after it"
        )
    paths: list[Path] = []
    given: list[str] = []
    notes: list[str] = []
    others = 0
    for class_folder in class_folders:
        images, beside = _images_below(class_folder)
        others += beside
        if not images:
            notes.append(f"{class_folder.relative_to(root)}: no images in this folder, so no such class")
        paths += images
        given += [_printable(class_folder.name)] * len(images)
    if not paths and not loose:
        raise InputError(f"{folder}: its class folders hold no images ({', '.join(sorted(IMAGE_SUFFIXES))})")

    known = set(class_names or ())
    unlabelled = labels == "ignored" or (labels == "optional" and not known.intersection(given))
    if unlabelled:
        paths = loose + paths
    elif loose:
        notes.append(f"{len(loose)} images directly in {folder} were left out: they are in no class folder")
    ids = [_printable(path.relative_to(root).as_posix()) for path in paths]
    if unlabelled:
        codes, names = torch.full((len(paths),), UNLABELLED), class_names or ()
    else:
        codes, names = encode_labels(given, class_names, where=lambda row: f"{paths[row].parent} ({ids[row]})")
    if others:
        notes.append(f"{others} files that are not images were left out")
    inputs = image_inputs(paths, shape=shape, side=side, memory_limit=memory_limit)
    if len(paths) <= _DUPLICATE_LIMIT:
        notes += note_duplicates(paths, ids, codes)
    dataset = Dataset(
        name=_printable(root.resolve().name),
        inputs=inputs,
        labels=codes,
        class_names=names,
        ids=ids,
        notes=tuple(notes),
    )
    return review_classes(dataset, where=folder) if class_names is None and labels == "required" else dataset

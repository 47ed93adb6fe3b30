"""Texts before they are encoded: a list of strings that waits for an encoder to turn it into vectors.

A network takes numbers, so texts have no shape and no rows to take. :func:`anchored.features.encode` reads
``inputs.texts`` and gives a data set of vectors.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NoReturn

from torch import Tensor

from anchored._errors import InputError

__all__ = ["MAX_CHARACTERS", "MAX_TEXT_BYTES", "TEXT_SUFFIXES", "TextInputs", "read_text", "read_texts"]

TEXT_SUFFIXES = frozenset({".txt"})
"""Endings of file names that are taken for texts."""
MAX_TEXT_BYTES = 2**20
"""A longer file is refused: it is a book or a log, and an encoder reads only the first few hundred words."""
MAX_CHARACTERS = 2**30
"""More than this, in all texts together, is not kept in memory."""


class TextInputs:
    """Texts in memory, not yet encoded.

    Args:
        texts: One string per sample.

    Example:
        >>> import torch
        >>> inputs = TextInputs(["good", "bad", "fine"])
        >>> len(inputs), inputs.shape, inputs.subset(torch.tensor([2, 0])).texts
        (3, (), ('fine', 'good'))
    """

    def __init__(self, texts: Sequence[str]) -> None:
        if isinstance(texts, str):
            raise InputError("texts must be a list of strings, got one string; put it into a list")
        self.texts = tuple(texts)
        for row, text in enumerate(self.texts):
            if not isinstance(text, str):
                raise InputError(f"text {row} must be a string, got {type(text).__name__}; convert or drop it")

    @property
    def shape(self) -> tuple[int, ...]:
        """The empty shape ``()``: a text has no size before it is encoded."""
        return ()

    @property
    def in_memory(self) -> bool:
        """Always: the strings are there."""
        return True

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, index: Tensor) -> NoReturn:
        """Refuse: there are no numbers to take before the texts are encoded."""
        raise InputError("texts must be encoded before a network can take them; call anchored.features.encode first")

    def subset(self, index: Tensor) -> TextInputs:
        """Return the texts at ``index``, in that order."""
        return TextInputs([self.texts[i] for i in index.tolist()])


def read_text(path: str | Path) -> str:
    """Read one text file.

    Args:
        path: A regular file of at most :data:`MAX_TEXT_BYTES`, in UTF-8; a byte order mark is dropped.

    Raises:
        InputError: If the file is missing, no regular file, too long or not UTF-8; the line names the file.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp(), "1.txt")
        >>> _ = file.write_text("a short text", encoding="utf-8")
        >>> read_text(file)
        'a short text'
    """
    path = Path(path)
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise InputError(f"{path}: not a regular file (a pipe, a device or a folder); remove it")
        with path.open("rb") as file:
            content = file.read(MAX_TEXT_BYTES + 1)  # not what its head says: it may be growing
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    if len(content) > MAX_TEXT_BYTES:
        size = max(about.st_size, len(content))
        raise InputError(
            f"{path}: a text may have at most {MAX_TEXT_BYTES:,} bytes, got {size:,}; split, shorten or remove it"
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None


def read_texts(paths: Iterable[Path]) -> TextInputs:
    """Read text files in their order.

    Args:
        paths: The files, each as :func:`read_text` takes it; together at most :data:`MAX_CHARACTERS` characters.

    Returns:
        Their texts, one per file.

    Raises:
        InputError: If a file cannot be read, or all together would not fit into memory.
    """
    texts: list[str] = []
    total = 0
    for path in paths:
        text = read_text(path)
        total += len(text)
        if total > MAX_CHARACTERS:
            raise InputError(
                f"{path}: the texts up to this one have more than {MAX_CHARACTERS:,} characters; use fewer of them"
            )
        texts.append(text)
    return TextInputs(texts)

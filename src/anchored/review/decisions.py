"""The record of a review: a file of corrections that only grows, each line on the disk before it is confirmed.

The process may be killed at any moment. Every decision that was confirmed is then in the file; one that was being
written is there whole or, cut short, is taken off when the file is opened again. Only one process writes at a time.
"""

from __future__ import annotations

import csv
import io
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from anchored._errors import InputError
from anchored.data.corrections import COLUMNS, Correction, parse_lines

__all__ = ["DecisionLog"]


class DecisionLog:
    """A file of corrections, open for more.

    Args:
        path: The file; it is made if there is none.
        start: Lines that a new file begins with: those of an earlier file of corrections.

    Attributes:
        lines: Decisions in the file, in its order.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     with DecisionLog(Path(folder) / "corrections.csv") as log:
        ...         log.append(Correction(7, "row 7", "cat", "accept", "dog"))
        ...     print(log.path.read_text())
        index,id,given,decision,label,time
        7,row 7,cat,accept,dog,
    """

    def __init__(self, path: str | Path, *, start: Sequence[Correction] = ()) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise InputError(f"corrections {self.path} cannot be written: {error.strerror}") from None
        try:
            self._claim()
            content = self.path.read_bytes()
            self.lines = self._repair(content) if content else self._begin(start)
        except BaseException:
            os.close(self._file)
            raise

    def _claim(self) -> None:
        """Lock the file; the lock ends with the process, however that ends."""
        if sys.platform == "win32":  # which keeps no such claims; the lines stay whole there all the same
            return
        import fcntl

        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                f"another review writes to {self.path} already; end it first, or give another --corrections"
            ) from None

    def _begin(self, start: Sequence[Correction]) -> list[Correction]:
        self._write(b"".join(_as_csv(row) for row in (COLUMNS, *(line.row() for line in start))))
        if sys.platform != "win32":
            folder = os.open(self.path.absolute().parent, os.O_RDONLY)
            os.fsync(folder)  # the name of the new file, too, must outlive a crash
            os.close(folder)
        return list(start)

    def _repair(self, content: bytes) -> list[Correction]:
        if content.endswith(b"\n"):
            return self._parse(content)
        try:
            lines = self._parse(content)
        except InputError:
            whole = content[: content.rfind(b"\n") + 1]
            lines = self._parse(whole)  # what is wrong further up is for the user to see to
            os.ftruncate(self._file, len(whole))
        else:
            self._write(b"\n")  # a line that somebody's editor left open
        return lines

    def _parse(self, content: bytes) -> list[Correction]:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InputError(f"corrections {self.path} must be text in UTF-8; save it as such") from None
        return list(parse_lines(text, where=str(self.path)))

    def append(self, line: Correction) -> None:
        """Add ``line``; it is on the disk when this returns. An OSError leaves the file as it was."""
        with self._lock:
            self._write(_as_csv(line.row()))
            self.lines.append(line)

    def _write(self, data: bytes) -> None:
        before = os.fstat(self._file).st_size
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(self._file, left) :]
            os.fsync(self._file)
        except BaseException:
            os.ftruncate(self._file, before)  # half a line on a full disk would damage the next one
            raise

    def close(self) -> None:
        """Close the file, so that other processes may write to it."""
        os.close(self._file)

    def __enter__(self) -> DecisionLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _as_csv(values: tuple[str, ...]) -> bytes:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(values)
    return line.getvalue().encode("utf-8")

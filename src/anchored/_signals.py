"""Ctrl-C, SIGTERM, SIGHUP and odd output streams, from the first moment on: one line, and never a traceback.

A signal that arrives while a module is imported must not become an exception: some packages swallow it half-way and
are broken afterwards. So it ends the process at once, with its line; nothing is being written at such a moment.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

__all__ = ["Terminated", "catch_signals", "open_streams", "reader_is_gone"]

_SAID = {
    signal.SIGINT: "interrupted",
    signal.SIGTERM: "told to stop (SIGTERM)",
    signal.SIGHUP: "the terminal is gone (SIGHUP)",
}
_IMPORT_SYSTEM = "<frozen importlib._bootstrap>"


class Terminated(BaseException):
    """Raised on SIGTERM and SIGHUP; a BaseException like KeyboardInterrupt, so that nobody catches it as an error.

    Args:
        number: The signal.

    Example:
        >>> stopped = Terminated(signal.SIGHUP)
        >>> str(stopped), stopped.code
        ('the terminal is gone (SIGHUP)', 129)
    """

    def __init__(self, number: int = signal.SIGTERM) -> None:
        super().__init__(_SAID[signal.Signals(number)])
        self.code = 128 + number


def catch_signals() -> None:
    """Turn Ctrl-C into KeyboardInterrupt, and SIGTERM and SIGHUP into :class:`Terminated`.

    While a module is imported, the process ends at once instead. A signal that is ignored, as SIGHUP under ``nohup``,
    stays so. A second SIGTERM or SIGHUP is ignored.
    """
    for number in _SAID:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)


def _stop(number: int, frame: FrameType | None) -> None:
    if number != signal.SIGINT:
        for each in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(each, signal.SIG_IGN)
    if importing(frame):
        with suppress(OSError):
            os.write(2, f"anchored: {_SAID[signal.Signals(number)]}\n".encode())
        os._exit(128 + number)
    raise KeyboardInterrupt if number == signal.SIGINT else Terminated(number)


def importing(frame: FrameType | None) -> bool:
    """Tell whether a frame runs within an import.

    Example:
        >>> importing(sys._getframe())
        False
    """
    while frame is not None:
        if frame.f_code.co_filename == _IMPORT_SYSTEM:
            return True
        frame = frame.f_back
    return False


def open_streams() -> None:
    """Give the process three streams that can be written to, whatever it was started with.

    A stream that was closed (``2>&-``) is opened on the null device, before a file of ours gets its number. A character
    that the terminal cannot show is written as its code. If whoever read stdout or stderr is gone (``| head``), lines
    are dropped: work of hours does not end because nobody listens. :func:`reader_is_gone` tells of it in the end.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - it lives as long as the process
    if sys.stdout is None or sys.stdout is sys.__stdout__:
        encoding, lines = ("utf-8", False) if sys.stdout is None else (sys.stdout.encoding, sys.stdout.isatty())
        binary = open(1, "wb", closefd=False)  # noqa: SIM115
        sys.stdout = _Piped(binary, encoding=encoding, errors="backslashreplace", line_buffering=lines)
    if sys.stderr is None or sys.stderr is sys.__stderr__:
        encoding = "utf-8" if sys.stderr is None else sys.stderr.encoding
        raw = open(2, "wb", buffering=0, closefd=False)  # noqa: SIM115
        sys.stderr = _Deaf(raw, encoding=encoding, errors="backslashreplace", write_through=True)


def reader_is_gone() -> bool:
    """Tell whether something could not be printed because whoever read stdout had ended, as ``head`` does."""
    return isinstance(sys.stdout, _Piped) and sys.stdout.gone


class _Piped(io.TextIOWrapper):
    """A text stream that goes on into the null device after an error, which is raised unless its reader has ended."""

    gone = False

    def write(self, text: str, /) -> int:
        with self._until_the_end():
            super().write(text)
        return len(text)

    def flush(self) -> None:
        with self._until_the_end():
            super().flush()

    @contextmanager
    def _until_the_end(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self.fileno())
            os.close(null)
            if not isinstance(error, BrokenPipeError):
                raise
            self.gone = True


class _Deaf(io.TextIOWrapper):
    """A text stream that drops what nobody can read any more."""

    def write(self, text: str, /) -> int:
        with suppress(OSError, ValueError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            super().flush()

"""Ctrl-C, SIGTERM and odd output streams, from the first moment on: one line, and never a traceback.

A signal that arrives while a module is imported must not become an exception: some packages swallow it half-way and
are broken afterwards. So it ends the process at once, with its line; nothing is being written at such a moment.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from contextlib import suppress
from types import FrameType

__all__ = ["Terminated", "catch_signals", "open_streams"]

_SAID = {signal.SIGINT: "interrupted", signal.SIGTERM: "told to stop (SIGTERM)"}
_IMPORT_SYSTEM = "<frozen importlib._bootstrap>"


class Terminated(BaseException):
    """Raised on SIGTERM; a BaseException like KeyboardInterrupt, so that nobody catches it as an error."""


def catch_signals() -> None:
    """Turn Ctrl-C into KeyboardInterrupt and SIGTERM into :class:`Terminated`, but end at once while importing.

    A signal that is ignored, as under ``nohup``, stays so. A second SIGTERM is ignored.
    """
    for number in _SAID:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)


def _stop(number: int, frame: FrameType | None) -> None:
    if number == signal.SIGTERM:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if importing(frame):
        with suppress(OSError):
            os.write(2, f"anchored: {_SAID[signal.Signals(number)]}\n".encode())
        os._exit(128 + number)
    raise KeyboardInterrupt if number == signal.SIGINT else Terminated


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
    that the terminal cannot show is written as its code. If whoever read stderr is gone, lines on it are dropped: work
    of hours does not end because nobody listens.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - it lives as long as the process
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    if sys.stderr is None or sys.stderr is sys.__stderr__:
        encoding = "utf-8" if sys.stderr is None else sys.stderr.encoding
        raw = open(2, "wb", buffering=0, closefd=False)  # noqa: SIM115
        sys.stderr = _Deaf(raw, encoding=encoding, errors="backslashreplace", write_through=True)


class _Deaf(io.TextIOWrapper):
    """A text stream that drops what nobody can read any more."""

    def write(self, text: str, /) -> int:
        with suppress(OSError, ValueError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            super().flush()

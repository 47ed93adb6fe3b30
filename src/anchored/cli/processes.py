"""Who speaks when several processes do one run, and what the last words are when one of them is stopped.

Under ``torchrun`` every process runs the same command. The first one speaks for all; of a refusal, which every
process meets, the first of each machine tells. A process that loses the others, or is told to stop, says in one
line how the run goes on, whichever it is.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

__all__ = ["Ended", "Terminated", "is_first", "is_first_here", "leave", "resumable", "say", "tell", "terminable"]

_LOST = (
    "connection closed",
    "connection reset",
    "connection refused",
    "broken pipe",
    "peer",
    "gloo",
    "nccl",
    "timed out",
)


class Ended(Exception):
    """The command is over and has said why; ``code`` is its exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Terminated(BaseException):
    """SIGTERM came: like KeyboardInterrupt, so that files are put away and nobody takes it for an error."""


def processes() -> int:
    """How many processes do this run."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_first() -> bool:
    """Whether this process speaks for the run."""
    return os.environ.get("RANK", "0") == "0"


def is_first_here() -> bool:
    """Whether this process speaks for its machine."""
    return os.environ.get("LOCAL_RANK", "0") == "0"


def say(line: str) -> None:
    """One line on stderr, whichever process this is; a closed or full stderr must not hide the reason for it."""
    with suppress(OSError):
        print(f"anchored: {' '.join(line.split())}", file=sys.stderr, flush=True)


def tell(line: str) -> None:
    """One line on stderr, from the first process only."""
    if is_first():
        say(line)


@contextmanager
def terminable() -> Iterator[None]:
    """Within, SIGTERM raises :class:`Terminated`; a second one is not heard while the first is seen to."""

    def terminate(_signal: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise Terminated

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def resumable(run: Path) -> Iterator[None]:
    """Within, whatever stops training from outside ends with one line on how to go on with ``run``."""
    try:
        yield
    except KeyboardInterrupt:
        raise _end("interrupted", run, 130) from None
    except Terminated:
        raise _end("told to stop (SIGTERM)", run, 143) from None
    except RuntimeError as error:
        if processes() == 1 or not any(word in str(error).lower() for word in _LOST):
            raise
        rank = os.environ.get("RANK", "0")
        raise _end(f"another process of the run has ended, so process {rank} stops too", run, 1) from None


def _end(what: str, run: Path, code: int) -> Ended:
    if (run / "config.yaml").is_file():
        say(f"{what}; the last checkpoint is kept, go on with: anchored resume {run}")
    else:
        say(f"{what} before training began; nothing was written, start it again")
    return Ended(code)


def leave(code: int) -> None:
    """End the process. Among several, at once: what is left of a broken group of processes could wait for ever."""
    if processes() > 1 and code != 0:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)
    sys.exit(code)

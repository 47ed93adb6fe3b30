"""Messages on stderr if several processes do one run, and the last message if a process is stopped.

Under ``torchrun`` every process runs the same command. The first one prints for all; a refusal, which every process
meets, is printed by the first of each machine. A process that loses the others, or is told to stop, always prints one
line on how to go on.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from anchored._progress import is_main_process
from anchored._signals import Terminated

if TYPE_CHECKING:
    from anchored.runs import RunFolder

__all__ = [
    "Ended",
    "about_the_disk",
    "is_first_here",
    "leave",
    "resumable",
    "say",
    "tell",
]

_ROOM = "make room or choose another place, then try again"
_ELSEWHERE = "choose another place, then try again"
_WAYS_OUT = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EACCES: "change its permissions, or choose another place",
    errno.EPERM: "change its permissions, or choose another place",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ENOENT: "it is not there, or the folder you are in was removed; check the name",
    errno.EMFILE: "allow more open files (ulimit -n)",
    errno.EIO: "the disk may be failing; check it",
}
_LONGEST_NAME, _LONGEST_LINE = 200, 1_500
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
    """Raised if a command ends early and has said why; ``code`` is its exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def processes() -> int:
    """Return the number of processes of this run."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_first_here() -> bool:
    """Tell whether this process prints for its machine."""
    return os.environ.get("LOCAL_RANK", "0") == "0"


def say(line: str) -> None:
    """Print one line on stderr, from any process; a closed or full stderr is ignored."""
    with suppress(OSError, ValueError, AttributeError):
        print(f"anchored: {_shortened(' '.join(line.split()))}", file=sys.stderr, flush=True)


def _shortened(line: str) -> str:
    """Leave out the middle of a line that nobody can read: it quotes a name of thousands of letters."""
    half = _LONGEST_LINE // 2
    return line if len(line) <= _LONGEST_LINE else f"{line[:half]} … {line[-half:]}"


def tell(line: str) -> None:
    """Print one line on stderr, from the first process only."""
    if is_main_process():
        say(line)


def about_the_disk(error: Exception) -> str | None:
    """Describe an error of the disk in one line, with the way out; None for any other error."""
    if isinstance(error, OSError) and error.strerror:
        name = error.filename2 or error.filename
        where = "" if name is None else f": {_short(os.fsdecode(name) if isinstance(name, str | bytes) else str(name))}"
        return f"{error.strerror}{where}; {_WAYS_OUT.get(error.errno or 0, _ELSEWHERE)}"
    if type(error).__name__ == "SafetensorError":  # the writer of weights has its own class for a full disk
        return f"the weights cannot be written or read ({error}); {_ROOM}"
    return None


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


@contextmanager
def resumable(run: RunFolder) -> Iterator[None]:
    """Print one line on how to go on with ``run``, if something from outside stops training in the ``with`` block."""
    try:
        yield
    except KeyboardInterrupt:
        raise _end("interrupted", run, 130) from None
    except Terminated as stopped:
        raise _end(str(stopped), run, stopped.code) from None
    except Exception as error:
        refused = about_the_disk(error)
        if refused is not None:
            raise _end(refused, run, 2) from None
        lost = isinstance(error, RuntimeError) and any(word in str(error).lower() for word in _LOST)
        if processes() == 1 or not lost:
            raise
        rank = os.environ.get("RANK", "0")
        raise _end(f"another process of the run has ended, so process {rank} stops too", run, 1) from None


def _end(what: str, run: RunFolder, code: int) -> Ended:
    if run.started:
        say(f"{what}; what is done is kept, go on with: anchored resume {run.path}")
    else:
        say(f"{what} before training began; nothing was written, start it again")
    return Ended(code)


def leave(code: int) -> None:
    """End the process; one of several ends at once, because the rest of a broken group could wait for ever."""
    if processes() > 1 and code != 0:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)
    sys.exit(code)

"""A lock that belongs to a living process: the system releases it when its owner ends, however it ends.

The process that holds the file lock (``flock``) is the owner; what the file says about it is for people only. So no
lock is ever stale, and none has to be removed by hand. On a file system that several machines share, the file system's
own locks decide; a file system without locks is refused.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
from pathlib import Path
from types import TracebackType

from anchored._errors import InputError

__all__ = ["Lock", "locked_folder"]


class Lock:
    """A lock file that at most one living process holds.

    Args:
        path: The file; made if it is missing, and left behind, because removing it could race with the next owner.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "cell.lock"
        >>> with Lock(path) as mine, Lock(path) as other:
        ...     mine.held, other.held, other.owner()["pid"] == os.getpid()
        (True, False, True)
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._handle: int | None = None

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._handle is not None

    def acquire(self) -> bool:
        """Take the lock if nobody holds it, without waiting; return whether this object holds it."""
        if self.held:
            return True
        handle = _opened(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return False
        except OSError as error:
            os.close(handle)
            raise _unlockable(self.path, error) from None
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps({"host": socket.gethostname(), "pid": os.getpid()}).encode(), 0)
        self._handle = handle
        return True

    def release(self) -> None:
        """Release the lock, if this object holds it."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def owner(self) -> dict[str, str | int]:
        """Return host and process of the last owner; empty if nobody has taken the lock yet."""
        try:
            found: dict[str, str | int] = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}  # just being taken
        return found

    def describe_owner(self) -> str:
        """Say in words which process holds the lock."""
        owner = self.owner()
        return f"process {owner.get('pid', '?')} on {owner.get('host', '?')} is running it"

    def __enter__(self) -> Lock:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


class locked_folder:
    """Context in which no other process is for the same folder; entering it waits for its turn.

    Args:
        path: The folder, which is locked itself: no file is left in it.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __enter__(self) -> None:
        self._handle = _opened(self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX)
        except OSError as error:
            os.close(self._handle)
            raise _unlockable(self.path, error) from None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._handle)


def _opened(path: Path, flags: int) -> int:
    try:
        return os.open(path, flags, 0o666)
    except OSError as error:
        way_out = "make it readable and writable for whoever shares it, or choose another folder"
        raise InputError(f"cannot open {path} to lock it: {error.strerror}; {way_out}") from None


def _unlockable(path: Path, error: OSError) -> InputError:
    why = "its file system has no locks" if error.errno in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP) else error
    return InputError(f"cannot lock {path}: {why}; put the store on a file system with locks, e.g. a local disk")

"""What encoding tells while it goes on; the command line draws it, a library call stays silent."""

from anchored._progress import EncodingProgress as Progress

__all__ = ["Progress"]

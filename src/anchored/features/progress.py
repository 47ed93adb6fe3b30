"""What encoding tells while it goes on; the command line draws it, a library call stays silent."""

from __future__ import annotations

__all__ = ["Progress"]


class Progress:
    """Hears everything and says nothing; subclasses show it."""

    def start(self, *, samples: int) -> None:
        """Encoding of ``samples`` inputs begins."""

    def step(self, *, samples: int) -> None:
        """Another ``samples`` inputs are done, computed or found in the cache."""

    def say(self, line: str) -> None:
        """Something worth a line."""

    def stop(self) -> None:
        """Encoding has ended, well or not."""

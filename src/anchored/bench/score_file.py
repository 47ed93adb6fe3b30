"""A file of finished measurements, one JSON object per line: a long benchmark that was stopped goes on from it.

Lines are only ever added, each in one write. A line that was cut off when the process was killed is measured again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from anchored._errors import InputError

__all__ = ["ScoreFile"]

Key = Mapping[str, str | int]


class ScoreFile:
    """Measurements by key, kept in a file.

    Args:
        path: The file, made with its folder if it is missing; None keeps everything in memory only.

    Raises:
        InputError: If the file cannot be used, or holds other lines than ours.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "scores.jsonl")
        >>> ScoreFile(path).add({"set": "iris", "seed": 0}, {"accuracy": 0.95})
        >>> ScoreFile(path).get({"set": "iris", "seed": 0}), ScoreFile(path).get({"set": "iris", "seed": 1})
        ({'accuracy': 0.95}, None)
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = None if path is None else Path(path)
        self._scores: dict[str, dict[str, float]] = {}
        if self.path is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
            text = self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            said = getattr(error, "strerror", None) or "no text"
            raise InputError(f"cannot use {self.path} for scores: {said}; choose another --store") from None
        *lines, rest = text.split("\n")
        for row, line in enumerate(lines, start=1):
            self._read(line, row)
        if rest:  # cut off in the middle of a line, which stays behind as a line that nobody reads
            os.write(self._file, b"  # cut off\n")

    def get(self, key: Key) -> dict[str, float] | None:
        """Return the measurement under ``key``, or None."""
        return self._scores.get(_name(key))

    def add(self, key: Key, score: Mapping[str, float]) -> None:
        """Keep a measurement; the last one under a key counts.

        Args:
            key: What was measured.
            score: The measured values.
        """
        self._scores[_name(key)] = dict(score)
        if self.path is not None:
            line = json.dumps({"key": dict(key), "score": dict(score)}, allow_nan=False)
            os.write(self._file, f"{line}\n".encode())

    def _read(self, line: str, row: int) -> None:
        if line.endswith("# cut off"):
            return
        try:
            record = json.loads(line)
            self._scores[_name(record["key"])] = {name: float(value) for name, value in record["score"].items()}
        except (ValueError, TypeError, KeyError, AttributeError):
            raise InputError(
                f"{self.path}, line {row}: not a score; give --store a file of its own, or remove the line"
            ) from None


def _name(key: Key) -> str:
    return json.dumps(dict(key), sort_keys=True)

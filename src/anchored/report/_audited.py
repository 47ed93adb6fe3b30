"""What an audit of the run found, read from ``RUN/audit``: how many labels are wrong, in which way, and which."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from anchored._errors import InputError

__all__ = ["Audited", "ClassNoise", "Pair", "Suspect", "read_audit"]

_TOP = 24
_COLUMNS = ("index", "id", "given", "suggested", "probability_wrong")


@dataclass(frozen=True)
class Suspect:
    """A label that is probably wrong."""

    index: int
    id: str
    given: str
    suggested: str
    probability_wrong: float
    group: str = ""


@dataclass(frozen=True)
class ClassNoise:
    """How many samples are labelled as a class, and the share of them that is not of it."""

    name: str
    count: int
    noise_rate: float | None


@dataclass(frozen=True)
class Pair:
    """So many samples given as one class look like another."""

    given: str
    suggested: str
    count: float


@dataclass(frozen=True)
class Audited:
    """The findings, and the ``suspects`` in the order of suspicion."""

    noise_rate: float | None = None
    interval: tuple[float, float] | None = None
    samples: int | None = None
    expected_errors: float | None = None
    class_names: tuple[str, ...] = ()
    transition: tuple[tuple[float, ...], ...] = ()
    classes: tuple[ClassNoise, ...] = ()
    pairs: tuple[Pair, ...] = ()
    duplicates: int = 0
    suspects: tuple[Suspect, ...] = field(default=(), repr=False)


def read_audit(folder: Path, top: int = _TOP) -> Audited | None:
    """What ``folder`` holds, with the ``top`` suspects; None where there was no audit."""
    about, suspects = folder / "audit.json", folder / "suspects.csv"
    if not about.is_file() and not suspects.is_file():
        return None
    try:
        found = json.loads(about.read_text(encoding="utf-8")) if about.is_file() else {}
        ranked = _suspects(suspects, top) if suspects.is_file() else ()
        return _audited(found, ranked)
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
        said = f"{type(error).__name__}: {error}" if isinstance(error, (KeyError, TypeError)) else str(error)
        raise InputError(
            f"the audit in {folder} cannot be read ({said.splitlines()[0]}); remove it and run: anchored audit"
        ) from None


def _audited(found: Mapping[str, Any], suspects: tuple[Suspect, ...]) -> Audited:
    interval = found.get("interval")
    return Audited(
        noise_rate=_number(found.get("noise_rate")),
        interval=None if interval is None else (float(interval[0]), float(interval[1])),
        samples=None if found.get("samples") is None else int(found["samples"]),
        expected_errors=_number(found.get("expected_errors")),
        class_names=tuple(map(str, found.get("class_names") or ())),
        transition=tuple(tuple(map(float, row)) for row in found.get("transition") or ()),
        classes=tuple(
            ClassNoise(str(each["name"]), int(each["count"]), _number(each.get("noise_rate")))
            for each in found.get("classes") or ()
        ),
        pairs=tuple(
            Pair(str(each["given"]), str(each["suggested"]), float(each["count"])) for each in found.get("pairs") or ()
        ),
        duplicates=len(found.get("duplicates") or ()),
        suspects=suspects,
    )


def _suspects(path: Path, top: int) -> tuple[Suspect, ...]:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        missing = [column for column in _COLUMNS if column not in (reader.fieldnames or ())]
        if missing:
            raise ValueError(f"suspects.csv has no column {missing[0]!r}")
        return tuple(map(_suspect, islice(reader, top)))


def _suspect(row: Mapping[str, str]) -> Suspect:
    return Suspect(
        int(row["index"]),
        row["id"],
        row["given"],
        row["suggested"],
        float(row["probability_wrong"]),
        row.get("group") or "",
    )


def _number(value: object) -> float | None:
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)

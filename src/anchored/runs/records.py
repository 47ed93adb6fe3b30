"""What ``result.json`` and ``speed.jsonl`` of a run must hold, so that whoever reads them need not ask again.

Fields that are not named here may hold anything; a field that is named must be of its kind if it is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from anchored.training import Count, Record, check_record

__all__ = ["check_result", "check_speed"]

_Share = Annotated[float, Field(ge=0, le=1)]


class _Scores(Record):
    n: Count | None = None
    accuracy: _Share | None = None
    per_class: list[_Share | None] | None = None
    many: _Share | None = None
    medium: _Share | None = None
    few: _Share | None = None
    ece: float | None = None
    ece_uncalibrated: float | None = None
    nll: float | None = None
    gamma_min: float | None = None
    gamma_mean: float | None = None


class _Noise(Record):
    flipped: Count | None = None
    rate: _Share | None = None
    n: Count | None = None


class _Corruption(Record):
    noise: _Noise | None = None


class _Corrections(Record):
    changed: Count | None = None
    decided: Count | None = None


class _Calibration(Record):
    on: str | None = None
    n: Count | None = None
    noise_rate: float | None = None


class _Reasons(Record):
    text: str | None = None
    noise_rate: float | None = None
    interval: Annotated[list[float], Field(min_length=2, max_length=2)] | None = None
    transition: list[list[float]] | None = None
    imbalance: float | None = None
    labels: str | None = None
    chosen: dict[str, dict[str, Any]] | None = None


class _BestEpoch(Record):
    epoch: Count | None = None
    test_accuracy: _Share | None = None


class _Result(Record):
    method: str
    epochs: Count
    temperature: Annotated[float, Field(gt=0)]
    config_hash: str | None = None
    description: str | None = None
    kept_epoch: Count | None = None
    samples: Count | None = None
    class_counts: list[Count] | None = None
    corruption: _Corruption | None = None
    corrections: _Corrections | None = None
    calibration: _Calibration | None = None
    history_best: _BestEpoch | None = None
    versions: dict[str, str] | None = None
    threads: Count | None = None
    held_out: _Scores | None = None
    estimated: _Scores | None = None
    test: _Scores | None = None
    auto: _Reasons | None = None


class _Speed(Record):
    epoch: Annotated[int, Field(ge=1)]
    seconds: Annotated[float, Field(ge=0)]
    samples_per_second: float | None = None


def check_result(result: Mapping[str, Any], *, where: str, way_out: str = "") -> None:
    """Check what ``result.json`` holds.

    Args:
        result: The content of the file.
        where: Name of the file, for a refusal.
        way_out: What to do if it is damaged, for the end of the message.

    Raises:
        InputError: A field that every result has is missing, or a field is of another kind; the message names it.

    Example:
        >>> check_result({"method": "ce", "epochs": 3}, where="result.json")
        Traceback (most recent call last):
        ...
        anchored._errors.InputError: result.json is damaged: 'temperature' is missing
    """
    check_record(_Result, result, where=where, way_out=way_out)


def check_speed(records: Sequence[Mapping[str, Any]], *, where: str, way_out: str = "") -> None:
    """Check the records of ``speed.jsonl``.

    Args:
        records: The records.
        where: Name of the file, for a refusal.
        way_out: What to do if it is damaged, for the end of the message.

    Raises:
        InputError: They are no such records.

    Example:
        >>> check_speed([{"epoch": 1, "seconds": 2.5, "samples_per_second": None}], where="speed.jsonl")
    """
    for number, record in enumerate(records, start=1):
        check_record(_Speed, record, where=f"{where}, line {number}", way_out=way_out)

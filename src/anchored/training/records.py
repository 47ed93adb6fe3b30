"""What a record of a training must hold, so that whoever reads it need not ask again.

Records are read from files that may be damaged or come from elsewhere. Fields that a kind of record does not name may
hold anything; a field that it names must be of its kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from anchored._errors import InputError, ending

__all__ = ["Count", "Record", "check_history", "check_record"]

Count = Annotated[int, Field(ge=0)]
"""A whole number that is not negative."""


class Record(BaseModel):
    """Base of a kind of record: its annotations say which fields must be of which kind."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False, extra="allow")


class _Epoch(Record):
    __pydantic_extra__: dict[str, float | None] = Field(init=False)
    epoch: Annotated[int, Field(ge=1)]


def check_record(kind: type[Record], value: object, *, where: str, way_out: str = "") -> None:
    """Check one record.

    Args:
        kind: What it must be.
        value: What was read.
        where: Name of the file, for a refusal.
        way_out: What to do if it is damaged, for the end of the message.

    Raises:
        InputError: A field is missing or of another kind; the message names it.

    Example:
        >>> class Speed(Record):
        ...     seconds: float
        >>> check_record(Speed, {"seconds": "two"}, where="speed.jsonl")
        Traceback (most recent call last):
        ...
        anchored._errors.InputError: speed.jsonl is damaged: 'seconds': input should be a valid number, got 'two'
    """
    try:
        kind.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        said = f"{first['msg'][0].lower()}{first['msg'][1:]}, got {repr(first['input'])[:60]}"
        what = f"{name!r} is missing" if first["type"] == "missing" else f"{name!r}: {said}" if name else said
        raise InputError(f"{where} is damaged: {what}{ending(way_out)}") from None


def check_history(records: object, *, where: str, way_out: str = "") -> None:
    """Check the records of epochs: numbered from one, with numbers or nothing under every other name.

    Args:
        records: The records.
        where: Name of the file, for a refusal.
        way_out: What to do if it is damaged, for the end of the message.

    Raises:
        InputError: They are no such records; the message names the first that is none.

    Example:
        >>> check_history([{"epoch": 1, "train_loss": 0.5}], where="history.jsonl")
        >>> check_history([{"epoch": 2, "train_loss": 0.5}], where="history.jsonl")
        Traceback (most recent call last):
        ...
        anchored._errors.InputError: history.jsonl is damaged: record 1 is of epoch 2
    """
    if not isinstance(records, Sequence) or isinstance(records, str):
        raise InputError(f"{where} is damaged: it must hold a record per epoch{ending(way_out)}")
    for number, record in enumerate(records, start=1):
        check_record(_Epoch, record, where=f"{where}, epoch {number}", way_out=way_out)
        if record["epoch"] != number:
            raise InputError(f"{where} is damaged: record {number} is of epoch {record['epoch']}{ending(way_out)}")

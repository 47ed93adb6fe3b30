"""Schedules by name, from plain values: a literal table of kinds, and the published ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields

from anchored._errors import InputError
from anchored._names import suggest
from anchored.schedules._base import Schedule
from anchored.schedules.constant import Constant
from anchored.schedules.cosine import Cosine
from anchored.schedules.exponential import Exponential
from anchored.schedules.multi_step import MultiStep
from anchored.schedules.parabolic import Parabolic
from anchored.schedules.published import PUBLISHED
from anchored.schedules.warm_up import WarmUp

__all__ = ["SCHEDULES", "get"]

SCHEDULES: Mapping[str, type[Schedule]] = {
    "constant": Constant,
    "cosine": Cosine,
    "exponential": Exponential,
    "multi-step": MultiStep,
    "parabolic": Parabolic,
    "warm-up": WarmUp,
}
"""Every schedule: name to class."""


def get(name: str, *, epochs: int | None = None, **settings: object) -> Schedule:
    """The schedule called ``name``, from plain values; with those of ``as_dict``, the same schedule again.

    Args:
        name: A key of :data:`SCHEDULES`, or of :data:`PUBLISHED` for the one of a reference.
        epochs: Length of the run. A published schedule is fitted to it.
        settings: The other fields. The ``schedule`` inside a warm-up may be a dictionary. For every
            other name, ``warm_epochs`` (and ``start``) puts a warm-up in front.

    Example:
        >>> get("cosine", epochs=50)
        Cosine(epochs=50, lowest=0.0)
        >>> get("cosine", epochs=50, warm_epochs=5)(0)
        0.2
        >>> get("ldam", epochs=20)(16)
        0.01
    """
    if name in PUBLISHED:
        if settings:
            raise InputError(
                f"schedule {name!r} is published as it is, without {', '.join(settings)}; give epochs only"
            )
        return PUBLISHED[name] if epochs is None else PUBLISHED[name].for_epochs(epochs)
    if name not in SCHEDULES:
        raise InputError(f"unknown schedule {name!r}; {suggest(str(name), [*SCHEDULES, *PUBLISHED])}")
    kind = SCHEDULES[name]
    if kind is WarmUp:
        return _build(WarmUp, _with_inner(epochs, settings))
    warm_up: dict[str, object] = {key: settings.pop(key) for key in ("warm_epochs", "start") if key in settings}
    if epochs is not None:
        settings["epochs"] = epochs
    schedule = _build(kind, settings)
    return _build(WarmUp, {"schedule": schedule, **warm_up}) if warm_up else schedule


def _with_inner(epochs: int | None, settings: dict[str, object]) -> dict[str, object]:
    """The settings of a warm-up, with the dictionary inside turned into a schedule."""
    inner = settings.get("schedule")
    if isinstance(inner, Mapping):
        if "name" not in inner:
            raise InputError(f"the schedule inside 'warm-up' needs a name; choose from {', '.join(SCHEDULES)}")
        outer = {} if epochs is None else {"epochs": epochs}
        inner = get(**{**outer, **inner})
    elif epochs is not None:
        raise InputError("schedule 'warm-up' takes its epochs from the schedule inside; write them there")
    return {**settings, "schedule": inner} if "schedule" in settings else settings


def _build(kind: type[Schedule], settings: Mapping[str, object]) -> Schedule:
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]  # every kind is a dataclass
    for setting in settings:
        if setting not in known:
            raise InputError(f"schedule {kind.name!r} has no setting {setting!r}; {suggest(setting, known)}")
    for setting, field in known.items():
        if field.default is MISSING and setting not in settings:
            raise InputError(f"schedule {kind.name!r} needs {setting}; write get({kind.name!r}, {setting}=...)")
    return kind(**settings)

r"""Schedules by name: the kinds, and the schedules of the references as they stand in their code.

==================  ======  =========================  =====================================================
name                epochs  warm-up                    then
==================  ======  =========================  =====================================================
``mnist``           50      none                       cosine to 0
``cifar10``         120     none                       cosine to 0
``cifar100``        200     none                       cosine to 0
``webvision``       250     none                       0.97 per epoch
``ldam``            200     5 epochs, 1/5 … 1          x 0.01 from 160, x 0.0001 from 180
``mislas``, ``tade``  200   5 epochs, 1/5 … 1          x 0.1 from 160, x 0.01 from 180
``bbn``, ``lade``   200     5 epochs from 1/3          x 0.01 from 120, x 0.0001 from 160
``imagenet-lt``     180     none                       cosine to 0 (MiSLAS, LADE and TADE)
``kang``            90      none                       cosine to 0 (first stage of cRT and LWS)
``oltr-1``          30      none                       x 0.1 every 10 epochs
``oltr-2``          60      none                       x 0.1 every 20 epochs
==================  ======  =========================  =====================================================

Epochs are counted from 0. BBN and LADE write "0.01 at 120 and 160" for a scheduler that multiplies each time, hence
0.0001. BBN's loop steps its scheduler before the first epoch, which makes everything happen one epoch early; that
accident is not repeated here. ``schedules.get("ldam", epochs=20)`` fits a schedule to another length.

References:
    Ma et al., 2020 (the first four); Cao et al., 2019; Zhong et al., 2021; Zhang et al., 2021 (TADE);
    Zhou et al., 2020 (BBN); Hong et al., 2021 (LADE); Kang et al., 2020; Liu et al., 2019 (OLTR).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from types import MappingProxyType

from anchored._errors import InputError
from anchored._names import suggest
from anchored.schedules._base import Schedule
from anchored.schedules.curves import Constant, Cosine, Exponential, MultiStep, Parabolic, WarmUp

__all__ = ["PUBLISHED", "SCHEDULES", "get"]

SCHEDULES: Mapping[str, type[Schedule]] = {
    "constant": Constant,
    "cosine": Cosine,
    "exponential": Exponential,
    "multi-step": MultiStep,
    "parabolic": Parabolic,
    "warm-up": WarmUp,
}
"""Every kind of schedule: name to class."""

_LDAM = WarmUp(schedule=MultiStep(epochs=200, milestones=(160, 180), factors=(0.01, 0.0001)))
_MISLAS = WarmUp(schedule=MultiStep(epochs=200, milestones=(160, 180), factors=(0.1, 0.01)))
_BBN = WarmUp(schedule=MultiStep(epochs=200, milestones=(120, 160), factors=(0.01, 0.0001)), start=1 / 3)

PUBLISHED: Mapping[str, Schedule] = MappingProxyType(
    {
        "bbn": _BBN,
        "cifar10": Cosine(epochs=120),
        "cifar100": Cosine(epochs=200),
        "imagenet-lt": Cosine(epochs=180),
        "kang": Cosine(epochs=90),
        "lade": _BBN,
        "ldam": _LDAM,
        "mislas": _MISLAS,
        "mnist": Cosine(epochs=50),
        "oltr-1": MultiStep(epochs=30, milestones=(10, 20), factors=(0.1, 0.01)),
        "oltr-2": MultiStep(epochs=60, milestones=(20, 40), factors=(0.1, 0.01)),
        "tade": _MISLAS,
        "webvision": Exponential(epochs=250, gamma=0.97),
    }
)
"""The schedule of each reference, over its own number of epochs."""


def get(name: str, *, epochs: int | None = None, **settings: object) -> Schedule:
    """Return the schedule called ``name``.

    Args:
        name: A key of :data:`SCHEDULES`, or of :data:`PUBLISHED` for the schedule of a reference.
        epochs: Length of the run. A published schedule is fitted to it.
        settings: The other fields of the schedule, as plain values: ``get(**schedule.as_dict())`` is the same schedule
            again. The ``schedule`` inside a warm-up may be a dictionary. For every other name, ``warm_epochs`` (and
            ``start``) puts a warm-up in front.

    Returns:
        The schedule.

    Raises:
        InputError: If the name or a setting is unknown, or a setting is missing.

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
    """Return the settings of a warm-up, with the dictionary inside turned into a schedule."""
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

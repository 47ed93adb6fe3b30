r"""The schedules of the references, as they stand in their code; epochs counted from 0.

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

BBN and LADE write "0.01 at 120 and 160" of a scheduler that multiplies each time, hence 0.0001.
BBN's loop steps its scheduler before the first epoch, which runs everything one epoch early; that
accident is not repeated here. ``schedules.get("ldam", epochs=20)`` fits one to another length.

References:
    Ma et al., 2020 (the first four); Cao et al., 2019; Zhong et al., 2021; Zhang et al., 2021 (TADE);
    Zhou et al., 2020 (BBN); Hong et al., 2021 (LADE); Kang et al., 2020; Liu et al., 2019 (OLTR).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from anchored.schedules._base import Schedule
from anchored.schedules.cosine import Cosine
from anchored.schedules.exponential import Exponential
from anchored.schedules.multi_step import MultiStep
from anchored.schedules.warm_up import WarmUp

__all__ = ["PUBLISHED"]

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

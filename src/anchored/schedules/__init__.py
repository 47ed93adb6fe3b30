"""Learning rates as pure functions of the epoch: ``rate = base * schedule(epoch)``, epochs counted from 0.

Nothing steps and nothing is stored: the value after a resume is the value without one. The
references change the rate once per epoch, so the loop asks once per epoch, with whole numbers;
fractions are answered too. Each schedule knows the number of ``epochs`` it is written for, and
``for_epochs(n)`` gives the same shape over ``n`` epochs.
"""

from __future__ import annotations

from anchored.schedules._base import Schedule as Schedule
from anchored.schedules._get import SCHEDULES as SCHEDULES
from anchored.schedules._get import get as get
from anchored.schedules.constant import Constant as Constant
from anchored.schedules.cosine import Cosine as Cosine
from anchored.schedules.deferred import Deferred as Deferred
from anchored.schedules.exponential import Exponential as Exponential
from anchored.schedules.multi_step import MultiStep as MultiStep
from anchored.schedules.parabolic import Parabolic as Parabolic
from anchored.schedules.published import PUBLISHED as PUBLISHED
from anchored.schedules.warm_up import WarmUp as WarmUp

__all__ = [
    "PUBLISHED",
    "SCHEDULES",
    "Constant",
    "Cosine",
    "Deferred",
    "Exponential",
    "MultiStep",
    "Parabolic",
    "Schedule",
    "WarmUp",
    "get",
]

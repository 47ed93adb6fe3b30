"""Learning rates as pure functions of the epoch: ``rate = base * schedule(epoch)``, epochs counted from 0.

A schedule has no state and takes no steps: the value after a resume is the value without one. The references change
the rate once per epoch, so the loop asks once per epoch, with whole numbers; fractions are answered too. Each schedule
knows the number of ``epochs`` it is written for, and ``for_epochs(n)`` gives the same shape over ``n`` epochs.
"""

from anchored.schedules._base import Schedule
from anchored.schedules.curves import Constant, Cosine, Deferred, Exponential, MultiStep, Parabolic, WarmUp
from anchored.schedules.names import PUBLISHED, SCHEDULES, get

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

"""Knowing nothing beforehand: look at the labels, then decide method, scale, labels and when to stop."""

from anchored.auto._fit import PILOT, Looked, fit, judgement, looks_first
from anchored.auto.choice import Choice, choose
from anchored.auto.targets import Targets, make_targets

__all__ = ["PILOT", "Choice", "Looked", "Targets", "choose", "fit", "judgement", "looks_first", "make_targets"]

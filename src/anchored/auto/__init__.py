"""Knowing nothing beforehand: look at the labels, then decide method, scale, labels and when to stop."""

from anchored.auto._fit import Looked, fit, looks_first
from anchored.auto.choice import Choice, choose
from anchored.auto.targets import Targets, make_targets

__all__ = ["Choice", "Looked", "Targets", "choose", "fit", "looks_first", "make_targets"]

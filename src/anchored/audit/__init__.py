"""How bad the labels are, and which ones: noise rate, transition matrix, ranked suspects, near-duplicates."""

from anchored.audit._audit import Audit, ClassNoise, ConfusedPair, DuplicateGroup, audit
from anchored.audit.cross_fit import CrossFit, cross_fit
from anchored.audit.label_noise import LabelNoise, fit_label_noise, judge
from anchored.audit.near_duplicates import NearDuplicates, near_duplicates
from anchored.audit.suspects import Suspect, Suspects

__all__ = [
    "Audit",
    "ClassNoise",
    "ConfusedPair",
    "CrossFit",
    "DuplicateGroup",
    "LabelNoise",
    "NearDuplicates",
    "Suspect",
    "Suspects",
    "audit",
    "cross_fit",
    "fit_label_noise",
    "judge",
    "near_duplicates",
]

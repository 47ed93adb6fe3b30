"""How bad the labels are, and which ones: noise rate, transition matrix, ranked suspects, near-duplicates."""

from anchored.audit._audit import Audit, ClassNoise, ConfusedPair, DuplicateGroup, audit
from anchored.audit.cross_fit import LEAST_LR, CrossFit, cross_fit, look_model, look_settings
from anchored.audit.judges import JUDGES, Opinion, Verdict, combine, judge_vectors, knowable
from anchored.audit.label_noise import FEWEST_PER_CLASS, LabelNoise, fit_label_noise, judge
from anchored.audit.near_duplicates import NearDuplicates, near_duplicates
from anchored.audit.suspects import Suspect, Suspects
from anchored.audit.trust import TrustedLabels, trust_labels

__all__ = [
    "FEWEST_PER_CLASS",
    "JUDGES",
    "LEAST_LR",
    "Audit",
    "ClassNoise",
    "ConfusedPair",
    "CrossFit",
    "DuplicateGroup",
    "LabelNoise",
    "NearDuplicates",
    "Opinion",
    "Suspect",
    "Suspects",
    "TrustedLabels",
    "Verdict",
    "audit",
    "combine",
    "cross_fit",
    "fit_label_noise",
    "judge",
    "judge_vectors",
    "knowable",
    "look_model",
    "look_settings",
    "near_duplicates",
    "trust_labels",
]

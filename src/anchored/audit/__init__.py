"""How bad the labels are, and which ones: noise rate, transition matrix, ranked suspects, near-duplicates."""

from anchored.audit._audit import Audit, CheckedLabels, ClassNoise, ConfusedPair, DuplicateGroup, audit
from anchored.audit.check import Checked, check_sample, correct_by_check
from anchored.audit.check_file import CHECK_COLUMNS, Check, read_check
from anchored.audit.cross_fit import LEAST_LR, CrossFit, cross_fit, look_model, look_settings
from anchored.audit.flags import flag
from anchored.audit.judges import JUDGES, Opinion, Verdict, combine, judge_vectors, knowable
from anchored.audit.judges.knowable import SYSTEMATIC
from anchored.audit.label_noise import (
    FEWEST_PER_CLASS,
    LabelNoise,
    fit_label_noise,
    judge,
    judge_labels,
    rate_interval,
)
from anchored.audit.near_duplicates import NearDuplicates, near_duplicates
from anchored.audit.next_to_show import most_valuable, next_to_show
from anchored.audit.suspects import Suspect, Suspects
from anchored.audit.treatments import Evidence, compare_treatments
from anchored.audit.trust import TREATMENTS, TrustedLabels, trust_labels

__all__ = [
    "CHECK_COLUMNS",
    "FEWEST_PER_CLASS",
    "JUDGES",
    "LEAST_LR",
    "SYSTEMATIC",
    "TREATMENTS",
    "Audit",
    "Check",
    "Checked",
    "CheckedLabels",
    "ClassNoise",
    "ConfusedPair",
    "CrossFit",
    "DuplicateGroup",
    "Evidence",
    "LabelNoise",
    "NearDuplicates",
    "Opinion",
    "Suspect",
    "Suspects",
    "TrustedLabels",
    "Verdict",
    "audit",
    "check_sample",
    "combine",
    "compare_treatments",
    "correct_by_check",
    "cross_fit",
    "fit_label_noise",
    "flag",
    "judge",
    "judge_labels",
    "judge_vectors",
    "knowable",
    "look_model",
    "look_settings",
    "most_valuable",
    "near_duplicates",
    "next_to_show",
    "rate_interval",
    "read_check",
    "trust_labels",
]

"""Judges of labels: each says of every sample which class it looks like, without having seen the sample's label.

:func:`judge_vectors` asks several, combines them and estimates the noise of the labels. ``n`` samples, ``d`` features,
``k`` classes.
"""

from anchored.audit.judges.base import Judge, Opinion, Vectors
from anchored.audit.judges.calibrate import calibrated, opinion_of
from anchored.audit.judges.combine import combine, likelihood_under_law
from anchored.audit.judges.knowable import knowable
from anchored.audit.judges.names import JUDGES, choose_judges, get
from anchored.audit.judges.network import network
from anchored.audit.judges.verdict import Verdict, judge_vectors

__all__ = [
    "JUDGES",
    "Judge",
    "Opinion",
    "Vectors",
    "Verdict",
    "calibrated",
    "choose_judges",
    "combine",
    "get",
    "judge_vectors",
    "knowable",
    "likelihood_under_law",
    "network",
    "opinion_of",
]

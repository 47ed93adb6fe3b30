"""Losses: each is a row of values over labels; they can be added, multiplied by a number and normalised.

Alphabet: ``n`` samples, ``k`` classes, ``p = softmax(logits)``, ``scale`` for the factor s of the logits.
"""

from anchored.losses._base import Loss
from anchored.losses._probability import OwnProbability
from anchored.losses.absolute import MeanAbsoluteError, ReverseCrossEntropy
from anchored.losses.anchored_squared import AnchoredSquared
from anchored.losses.class_balanced import class_balanced_weights
from anchored.losses.combination import Sum
from anchored.losses.cross_entropy import CrossEntropy
from anchored.losses.dot_regression import DotRegression
from anchored.losses.focal import Focal
from anchored.losses.generalized import GeneralizedCrossEntropy
from anchored.losses.lade import LADE
from anchored.losses.margin import LDAM, MarginSoftmax
from anchored.losses.names import NAMES, get, needs_counts
from anchored.losses.normalized import Normalized
from anchored.losses.prior import BalancedSoftmax, LogitAdjusted
from anchored.losses.published import (
    LONG_TAIL_SETTINGS,
    SETTINGS,
    closest_ratio,
    published_settings,
    settings_for,
)
from anchored.losses.sample_logit import NegativeSampleLogit
from anchored.losses.smoothing import LabelAwareSmoothing
from anchored.losses.symmetric import SymmetricCrossEntropy

__all__ = [
    "LADE",
    "LDAM",
    "LONG_TAIL_SETTINGS",
    "NAMES",
    "SETTINGS",
    "AnchoredSquared",
    "BalancedSoftmax",
    "CrossEntropy",
    "DotRegression",
    "Focal",
    "GeneralizedCrossEntropy",
    "LabelAwareSmoothing",
    "LogitAdjusted",
    "Loss",
    "MarginSoftmax",
    "MeanAbsoluteError",
    "NegativeSampleLogit",
    "Normalized",
    "OwnProbability",
    "ReverseCrossEntropy",
    "Sum",
    "SymmetricCrossEntropy",
    "class_balanced_weights",
    "closest_ratio",
    "get",
    "needs_counts",
    "published_settings",
    "settings_for",
]

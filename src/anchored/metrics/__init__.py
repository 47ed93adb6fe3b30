"""How good, how fair, how sure, how far apart: what is measured on a finished model.

Functions take torch tensors (or what ``torch.as_tensor`` takes) and give plain numbers, tensors or
small frozen records. What has no samples has no value: ``None``, never 0. The alphabet: ``n``
samples, ``k`` classes, ``d`` features.
"""

from anchored.metrics._accuracy import accuracy, confusion, per_class_accuracy
from anchored.metrics._angles import angles, minimal_angle, norms
from anchored.metrics._calibration import Bin, Reliability, classwise_ece, ece, mce, reliability
from anchored.metrics._margins import minimal_margin, sample_margins
from anchored.metrics._scatter import Scatter, scatter
from anchored.metrics._shot_accuracy import ShotAccuracy, shot_accuracy

__all__ = [
    "Bin",
    "Reliability",
    "Scatter",
    "ShotAccuracy",
    "accuracy",
    "angles",
    "classwise_ece",
    "confusion",
    "ece",
    "mce",
    "minimal_angle",
    "minimal_margin",
    "norms",
    "per_class_accuracy",
    "reliability",
    "sample_margins",
    "scatter",
    "shot_accuracy",
]

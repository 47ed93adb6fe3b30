"""Metrics of a model on a data set: accuracy, calibration, margins and the geometry of features and prototypes.

Functions take torch tensors (or what ``torch.as_tensor`` takes) and return plain numbers, tensors or small frozen
records. A value over no samples is ``None``, never 0. The alphabet: ``n`` samples, ``k`` classes, ``d`` features.
"""

from anchored.metrics._accuracy import accuracy, confusion, per_class_accuracy
from anchored.metrics._angles import angles, minimal_angle, norms
from anchored.metrics._calibration import Bin, Reliability, classwise_ece, ece, mce, reliability
from anchored.metrics._margins import cosine_margins, minimal_margin, sample_margins
from anchored.metrics._scatter import Scatter, scatter
from anchored.metrics._scores import scores
from anchored.metrics._shot_accuracy import ShotAccuracy, shot_accuracy
from anchored.metrics._temperature import fit_noise_and_temperature, fit_temperature, least_temperature, noisy_nll

__all__ = [
    "Bin",
    "Reliability",
    "Scatter",
    "ShotAccuracy",
    "accuracy",
    "angles",
    "classwise_ece",
    "confusion",
    "cosine_margins",
    "ece",
    "fit_noise_and_temperature",
    "fit_temperature",
    "least_temperature",
    "mce",
    "minimal_angle",
    "minimal_margin",
    "noisy_nll",
    "norms",
    "per_class_accuracy",
    "reliability",
    "sample_margins",
    "scatter",
    "scores",
    "shot_accuracy",
]

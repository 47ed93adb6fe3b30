"""Runs: data of the run, look at the labels, decide, train, conclude; and the folder and the model that come out."""

from anchored.runs import recipes
from anchored.runs.data import RunData, open_data
from anchored.runs.decide import ASSUMED_NOISE_RATE, Decision, complete, decide
from anchored.runs.features import Encoded, encode_data
from anchored.runs.fit import Fitted, fit
from anchored.runs.folder import RunFolder, default_path
from anchored.runs.loading import load
from anchored.runs.look import Look, look_at_labels, make_look
from anchored.runs.model import DESCRIPTION, ENCODER, ENCODER_WEIGHTS, OWN_BACKBONE, WEIGHTS, TrainedModel, read_encoder
from anchored.runs.reasons import SpeakingColumns, linear_map
from anchored.runs.recipes import RECIPES
from anchored.runs.tune import kept_config, was_tuned
from anchored.runs.words import speaking_words

__all__ = [
    "ASSUMED_NOISE_RATE",
    "DESCRIPTION",
    "ENCODER",
    "ENCODER_WEIGHTS",
    "OWN_BACKBONE",
    "RECIPES",
    "WEIGHTS",
    "Decision",
    "Encoded",
    "Fitted",
    "Look",
    "RunData",
    "RunFolder",
    "SpeakingColumns",
    "TrainedModel",
    "complete",
    "decide",
    "default_path",
    "encode_data",
    "fit",
    "kept_config",
    "linear_map",
    "load",
    "look_at_labels",
    "make_look",
    "open_data",
    "read_encoder",
    "recipes",
    "speaking_words",
    "was_tuned",
]

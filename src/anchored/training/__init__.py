"""The training engine: a resolved configuration and data in, weights out.

It knows neither run folders nor the word ``auto``; :mod:`anchored.runs` decides and keeps, this package trains.
"""

from anchored._progress import Progress, is_main_process
from anchored.training.checkpoint import Checkpoint
from anchored.training.config import (
    BackboneConfig,
    DataConfig,
    FeaturesConfig,
    LookConfig,
    MethodConfig,
    OptimizerConfig,
    RunConfig,
    ScheduleConfig,
    SecondConfig,
    TuneConfig,
    merge,
    parse_settings,
    validate,
)
from anchored.training.inference import Answers, answer_batches, ask, evaluation_batches, raw_logits, weight_of
from anchored.training.loop import Plan, train
from anchored.training.records import Count, Record, check_history, check_record
from anchored.training.runtime import Runtime, make_runtime, pick_device, precision_warning
from anchored.training.setup import Parts, TrainingSetup, build_procedure, check_possible, make_optimizer
from anchored.training.state import Average, EpochRecord, State

__all__ = [
    "Answers",
    "Average",
    "BackboneConfig",
    "Checkpoint",
    "Count",
    "DataConfig",
    "EpochRecord",
    "FeaturesConfig",
    "LookConfig",
    "MethodConfig",
    "OptimizerConfig",
    "Parts",
    "Plan",
    "Progress",
    "Record",
    "RunConfig",
    "Runtime",
    "ScheduleConfig",
    "SecondConfig",
    "State",
    "TrainingSetup",
    "TuneConfig",
    "answer_batches",
    "ask",
    "build_procedure",
    "check_history",
    "check_possible",
    "check_record",
    "evaluation_batches",
    "is_main_process",
    "make_optimizer",
    "make_runtime",
    "merge",
    "parse_settings",
    "pick_device",
    "precision_warning",
    "raw_logits",
    "train",
    "validate",
    "weight_of",
]

"""Training: the loop, its state and checkpoints, the processes it runs on, and the model that comes out."""

from anchored.methods import Classifier
from anchored.metrics import fit_noise_and_temperature, fit_temperature
from anchored.training.config import RunConfig
from anchored.training.fit import Fitted, fit
from anchored.training.loop import Plan, train
from anchored.training.progress import Progress
from anchored.training.run_folder import RunFolder
from anchored.training.runtime import Runtime
from anchored.training.state import State
from anchored.training.trained import TrainedModel

__all__ = [
    "Classifier",
    "Fitted",
    "Plan",
    "Progress",
    "RunConfig",
    "RunFolder",
    "Runtime",
    "State",
    "TrainedModel",
    "fit",
    "fit_noise_and_temperature",
    "fit_temperature",
    "train",
]

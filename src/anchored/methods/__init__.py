"""Methods by the paper's row names: frozen descriptions of head, loss, batches and weights, and what runs them."""

from anchored.methods.build import make_head, make_loss
from anchored.methods.classifier import Classifier
from anchored.methods.method import Method
from anchored.methods.network import Network, Outputs, logits_in
from anchored.methods.parse import parse
from anchored.methods.procedure import Given, MakesBackbone, Procedure, SecondStage
from anchored.methods.procedures import PROCEDURES, procedure, procedure_type
from anchored.methods.stage import Evidence, Group, Objective, Stage, everything, freeze_

__all__ = [
    "PROCEDURES",
    "Classifier",
    "Evidence",
    "Given",
    "Group",
    "MakesBackbone",
    "Method",
    "Network",
    "Objective",
    "Outputs",
    "Procedure",
    "SecondStage",
    "Stage",
    "everything",
    "freeze_",
    "logits_in",
    "make_head",
    "make_loss",
    "parse",
    "procedure",
    "procedure_type",
]

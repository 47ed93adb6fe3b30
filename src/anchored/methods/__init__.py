"""Methods by the paper's row names: frozen descriptions of head, loss, batches and weights, and what trains them."""

from anchored.methods.average import MEMBERS
from anchored.methods.base import (
    BuildContext,
    Classifier,
    Group,
    Network,
    Objective,
    Outputs,
    Procedure,
    Stage,
    StageData,
    everything,
    freeze_,
    logits_in,
)
from anchored.methods.build import make_head, make_loss
from anchored.methods.method import Method
from anchored.methods.names import PROCEDURES, make_procedure, procedure_type
from anchored.methods.neighbours import MOST_KEPT
from anchored.methods.parse import parse
from anchored.methods.tade import aggregate
from anchored.methods.tuned import start_from

__all__ = [
    "MEMBERS",
    "MOST_KEPT",
    "PROCEDURES",
    "BuildContext",
    "Classifier",
    "Group",
    "Method",
    "Network",
    "Objective",
    "Outputs",
    "Procedure",
    "Stage",
    "StageData",
    "aggregate",
    "everything",
    "freeze_",
    "logits_in",
    "make_head",
    "make_loss",
    "make_procedure",
    "parse",
    "procedure_type",
    "start_from",
]

"""Which methods have a file of their own."""

from __future__ import annotations

from collections.abc import Mapping

from anchored.methods.bbn import BilateralBranches
from anchored.methods.causal_norm import CausalNorm
from anchored.methods.crt import ClassifierRetraining
from anchored.methods.dot_regression import SimplexRegression
from anchored.methods.equiangular import EquiangularVectors
from anchored.methods.hyperspherical import HypersphericalPrototypes
from anchored.methods.lws import LearnableScaling
from anchored.methods.method import Method
from anchored.methods.mislas import MiSLAS
from anchored.methods.ncm import NearestClassMean
from anchored.methods.oltr import OpenLongTail
from anchored.methods.pc_softmax import PriorCompensation
from anchored.methods.post_hoc import PostHocAdjustment
from anchored.methods.procedure import Given, Procedure
from anchored.methods.tade import DiverseExperts
from anchored.methods.tau_norm import TauNormalization

__all__ = ["PROCEDURES", "procedure", "procedure_type"]

PROCEDURES: Mapping[str, type[Procedure]] = {
    "single": Procedure,
    "crt": ClassifierRetraining,
    "lws": LearnableScaling,
    "tau-norm": TauNormalization,
    "ncm": NearestClassMean,
    "mislas": MiSLAS,
    "pc-softmax": PriorCompensation,
    "post-hoc": PostHocAdjustment,
    "bbn": BilateralBranches,
    "tade": DiverseExperts,
    "causal-norm": CausalNorm,
    "oltr": OpenLongTail,
    "dot-regression": SimplexRegression,
    "hyperspherical": HypersphericalPrototypes,
    "equiangular": EquiangularVectors,
}
"""By the name in ``Method.procedure``."""


def procedure_type(method: Method) -> type[Procedure]:
    """The class that runs ``method``.

    Example:
        >>> from anchored.methods import parse
        >>> procedure_type(parse("ce+pal")).__name__
        'Procedure'
    """
    return PROCEDURES[method.procedure]


def procedure(given: Given) -> Procedure:
    """The network and stages of ``given.method``, for the data and settings in ``given``."""
    return procedure_type(given.method)(given)

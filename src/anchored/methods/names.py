"""The names of methods with code of their own, and the class of each.

A method is one file: its network and stages, and as class attributes what the parser and the tables need to know. This
table is the only other place that names it.
"""

from __future__ import annotations

from collections.abc import Mapping

from anchored.methods.average import Average
from anchored.methods.base import BuildContext, Procedure
from anchored.methods.bbn import BilateralBranches
from anchored.methods.boosted import BoostedTrees
from anchored.methods.causal_norm import CausalNorm
from anchored.methods.crt import ClassifierRetraining
from anchored.methods.dot_regression import SimplexRegression
from anchored.methods.equiangular import EquiangularVectors
from anchored.methods.hyperspherical import HypersphericalPrototypes
from anchored.methods.lws import LearnableScaling
from anchored.methods.method import Method
from anchored.methods.mislas import MiSLAS
from anchored.methods.ncm import NearestClassMean
from anchored.methods.neighbours import NearestNeighbours
from anchored.methods.oltr import OpenLongTail
from anchored.methods.pc_softmax import PriorCompensation
from anchored.methods.post_hoc import PostHocAdjustment
from anchored.methods.probe import LinearProbe
from anchored.methods.ridge import AnchoredLeastSquares, KernelLeastSquares
from anchored.methods.tade import DiverseExperts
from anchored.methods.tau_norm import TauNormalization
from anchored.methods.tuned import FineTuned

__all__ = ["PROCEDURES", "make_procedure", "procedure_type"]

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
    "ridge": AnchoredLeastSquares,
    "kernel-ridge": KernelLeastSquares,
    "boosted": BoostedTrees,
    "probe": LinearProbe,
    "neighbours": NearestNeighbours,
    "average": Average,
    "tuned": FineTuned,
}
"""By name; ``single`` is what a combination of loss and modifiers needs, and no word of a row name."""


def procedure_type(method: Method) -> type[Procedure]:
    """Return the class that trains ``method``.

    Example:
        >>> from anchored.methods import parse
        >>> procedure_type(parse("ce+pal")).__name__, procedure_type(parse("mislas+pal")).__name__
        ('Procedure', 'MiSLAS')
    """
    return PROCEDURES[method.algorithm]


def make_procedure(context: BuildContext) -> Procedure:
    """Make the procedure of ``context.method``, for the data and settings in ``context``."""
    return procedure_type(context.method)(context)

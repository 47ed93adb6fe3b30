"""The paper's statements as functions: margins, probabilities, Lipschitz constants, risk bounds, scales, thresholds.

Letters: k classes, eta noise rate, B bound on the norm of the features, scale for the paper's s. Every function takes
and returns plain numbers, except :func:`lipschitz_search`, which takes a loss and prototypes.
"""

from anchored.theory.calibration import ldam_threshold
from anchored.theory.comparison import (
    lipschitz_ce_unanchored,
    lipschitz_ce_unit_both,
    lipschitz_ce_unit_prototypes,
    lipschitz_ce_unnormalized,
)
from anchored.theory.least_squares import anchored_squared, left_out, noise_shrinkage
from anchored.theory.lipschitz import lipschitz_ce, lipschitz_focal, lipschitz_gce
from anchored.theory.margins import max_margin, max_margin_nonnegative
from anchored.theory.probability import loss_floor, max_probability, probability_floor
from anchored.theory.risk import risk_bound, risk_bound_ce
from anchored.theory.scale import noise_aware_scale, tolerant_scale
from anchored.theory.search import SteepestPoint, lipschitz_search

__all__ = [
    "SteepestPoint",
    "anchored_squared",
    "ldam_threshold",
    "left_out",
    "lipschitz_ce",
    "lipschitz_ce_unanchored",
    "lipschitz_ce_unit_both",
    "lipschitz_ce_unit_prototypes",
    "lipschitz_ce_unnormalized",
    "lipschitz_focal",
    "lipschitz_gce",
    "lipschitz_search",
    "loss_floor",
    "max_margin",
    "max_margin_nonnegative",
    "max_probability",
    "noise_aware_scale",
    "noise_shrinkage",
    "probability_floor",
    "risk_bound",
    "risk_bound_ce",
    "tolerant_scale",
]

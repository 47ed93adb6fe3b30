"""Class prototypes on the unit sphere: k directions in d dimensions, as far apart as possible.

:func:`make` picks the best construction for k, d and the sign of the features.
"""

from anchored.prototypes._direct_sum import direct_sum
from anchored.prototypes._make import make
from anchored.prototypes._nearly_orthogonal import nearly_orthogonal
from anchored.prototypes._packing import packing
from anchored.prototypes._paper import paper
from anchored.prototypes._quality import Quality, quality
from anchored.prototypes._reachable import reachable_margin
from anchored.prototypes._rotation import haar_frame
from anchored.prototypes._simplex import simplex
from anchored.prototypes._spread import spread

__all__ = [
    "Quality",
    "direct_sum",
    "haar_frame",
    "make",
    "nearly_orthogonal",
    "packing",
    "paper",
    "quality",
    "reachable_margin",
    "simplex",
    "spread",
]

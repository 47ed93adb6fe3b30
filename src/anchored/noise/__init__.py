"""Label noise with a receipt: what was asked for and what happened, class by class.

Every function draws all flips from the clean labels at once, leaves its input untouched and
returns a :class:`Corruption`. The alphabet: ``n`` samples, ``k`` classes, ``eta`` the noise rate.
"""

from anchored.noise._class_noise import apl_sequential, asymmetric, index_blocks, symmetric, transition
from anchored.noise._corruption import Corruption
from anchored.noise._instance import instance_dependent
from anchored.noise._mappings import MAPPINGS

__all__ = [
    "MAPPINGS",
    "Corruption",
    "apl_sequential",
    "asymmetric",
    "index_blocks",
    "instance_dependent",
    "symmetric",
    "transition",
]

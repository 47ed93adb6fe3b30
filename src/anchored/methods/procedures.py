"""Which methods have a file of their own."""

from __future__ import annotations

from collections.abc import Mapping

from anchored.methods.crt import ClassifierRetraining
from anchored.methods.method import Method
from anchored.methods.procedure import Given, Procedure

__all__ = ["PROCEDURES", "procedure", "procedure_type"]

PROCEDURES: Mapping[str, type[Procedure]] = {
    "single": Procedure,
    "crt": ClassifierRetraining,
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

"""The sections of a report: each turns evidence into a sentence of plain words, and pictures and tables below it.

A section is None if the run has nothing to say on its subject.
"""

from collections.abc import Callable

from anchored.report._evidence import Evidence
from anchored.report._section import Section
from anchored.report.sections.accuracy import accuracy
from anchored.report.sections.again import again
from anchored.report.sections.choice import choice
from anchored.report.sections.columns import columns
from anchored.report.sections.comparison import comparison
from anchored.report.sections.confidence import confidence
from anchored.report.sections.geometry import geometry
from anchored.report.sections.labels import labels
from anchored.report.sections.learning import learning
from anchored.report.sections.mistakes import mistakes
from anchored.report.sections.suspects import suspects

__all__ = ["SECTIONS"]

SECTIONS: tuple[Callable[[Evidence], Section | None], ...] = (
    choice,
    accuracy,
    mistakes,
    confidence,
    labels,
    suspects,
    columns,
    comparison,
    learning,
    geometry,
    again,
)
"""The sections in the order of the page."""

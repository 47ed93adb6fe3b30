"""The figures of the paper as commands: each file names its runs, reads its numbers off them, and draws."""

from anchored.paper.figures.figure import Figure
from anchored.paper.figures.names import FIGURES, get

__all__ = ["FIGURES", "Figure", "get"]

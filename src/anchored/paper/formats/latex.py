"""A comparison as a LaTeX table, for the ``booktabs`` package."""

from __future__ import annotations

from anchored.paper.comparison import Comparison
from anchored.paper.formats._grid import grid

__all__ = ["to_latex"]

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "−": r"$-$",
    "τ": r"$\tau$",
}


def to_latex(comparison: Comparison) -> str:
    r"""Write the comparison as a ``table`` environment with the notes below it.

    Example:
        >>> from anchored.paper import TABLES, compare
        >>> text = to_latex(compare(TABLES["weight_decay"], [], cells=["5e-4"]))
        >>> print(text.splitlines()[7])
        CE & paper & 40.49 \\
    """
    columns = [comparison.heading(column) for column in comparison.columns]
    lines = [
        r"\begin{table}",
        rf"\caption{{{_escaped(comparison.table.title)}}}",
        rf"\label{{tab:{comparison.table.name}}}",
        rf"\begin{{tabular}}{{ll{'r' * len(columns)}}}",
        r"\toprule",
        _row(["method", "", *columns]),
        r"\midrule",
        *(_row([line.method, line.kind, *line.cells]) for line in grid(comparison)),
        r"\bottomrule",
        r"\end{tabular}",
        *(rf"\par\footnotesize {_escaped(note)}" for note in comparison.notes),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _row(cells: list[str]) -> str:
    return " & ".join(map(_escaped, cells)) + r" \\"


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in text)

"""How a command gives its result: a small table for people, or one JSON object for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import typer

__all__ = ["print_json", "print_table", "score_rows"]

_MEASURES = (
    ("right answers, accuracy (%)", "accuracy", 100.0, ".2f"),
    ("  classes with over 100 samples (%)", "many", 100.0, ".2f"),
    ("  classes with 20 to 100 samples (%)", "medium", 100.0, ".2f"),
    ("  classes with under 20 samples (%)", "few", 100.0, ".2f"),
    ("error of its probabilities, ECE (%)", "ece", 100.0, ".2f"),
    ("  before calibration (%)", "ece_uncalibrated", 100.0, ".2f"),
    ("log loss, NLL", "nll", 1.0, ".4f"),
    ("smallest gap to the next class, gamma_min", "gamma_min", 1.0, ".3f"),
)
"""Measures in plain words, each with its key among the scores, a factor and a format."""


def print_json(result: dict[str, Any]) -> None:
    """Print one JSON object on one line; NaN and infinity are not JSON, so they become null."""
    typer.echo(json.dumps(_strict(result), allow_nan=False, ensure_ascii=False))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], note: str = "") -> None:
    """Print a table on stdout, with the first column aligned left and the others right.

    Args:
        title: Line above the table.
        columns: Headings.
        rows: Cells, row by row.
        note: Lines below the table.

    Example:
        >>> print_table("Scores", ["", "value"], [["accuracy", 0.5]], "written to runs/a")  # doctest: +ELLIPSIS
        Scores
        ...
        │ accuracy │   0.5 │
        ...
        written to runs/a
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for index, column in enumerate(columns):
        table.add_column(Text(column), justify="left" if index == 0 else "right")
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    # Title and note are no part of the table: they are not wrapped, so that a path in them stays whole.
    typer.echo(title)
    Console().print(table)
    if note:
        typer.echo(note)


def score_rows(parts: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Write the scores of a model as rows of a table: a measure in plain words, then its value on each part.

    Args:
        parts: Scores on each part of the data, as :func:`anchored.metrics.scores` gives them.

    Returns:
        A row for every measure that is known on at least one part.

    Example:
        >>> score_rows([{"accuracy": 0.5, "few": None}, {}])
        [['right answers, accuracy (%)', '50.00', '-']]
    """
    return [
        [title, *("-" if part.get(key) is None else format(factor * part[key], form) for part in parts)]
        for title, key, factor, form in _MEASURES
        if any(part.get(key) is not None for part in parts)
    ]


def _strict(value: Any) -> Any:  # noqa: ANN401 - JSON is a tree of anything
    if isinstance(value, dict):
        return {str(key): _strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value

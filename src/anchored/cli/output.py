"""How a command gives its result: a small table for people, or one JSON object for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

import typer

__all__ = ["AsJson", "print_json", "print_table"]

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object on stdout.")]


def print_json(result: dict[str, Any]) -> None:
    """One JSON object on one line; NaN and infinity are not JSON, so they become null."""
    typer.echo(json.dumps(_strict(result), allow_nan=False, ensure_ascii=False))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], note: str = "") -> None:
    """A table on stdout: the first column left, the others right."""
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


def _strict(value: Any) -> Any:  # noqa: ANN401 - JSON is a tree of anything
    if isinstance(value, dict):
        return {str(key): _strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value

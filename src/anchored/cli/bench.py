"""``anchored bench [NAME]``: run one benchmark, or all of them."""

from __future__ import annotations

from typing import Annotated

import typer

from anchored.cli.output import AsJson, print_json, print_table


def bench(
    name: Annotated[str | None, typer.Argument(help="Which one; all of them when none is named.")] = None,
    json: AsJson = False,
) -> None:
    """Measure speed and memory, as ratios within one run."""
    from importlib import import_module

    from anchored._names import choose
    from anchored.bench import BENCHMARKS

    names = list(BENCHMARKS) if name is None else [name]
    modules = [choose(each, BENCHMARKS, what="benchmark") for each in names]
    results = {each: import_module(module).run() for each, module in zip(names, modules, strict=True)}
    if json:
        print_json(
            {
                each: {"columns": result.columns, "rows": result.rows, "note": result.note, **result.facts}
                for each, result in results.items()
            }
        )
        return
    for result in results.values():
        rows = [[_shown(cell) for cell in row] for row in result.rows]
        print_table(result.title, result.columns, rows, result.note)


def _shown(cell: str | float | None) -> str:
    if cell is None:
        return ""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)

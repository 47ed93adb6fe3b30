"""``anchored paper``: run the tables and figures of the paper, and show the numbers beside the published ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anchored._errors import InputError
from anchored._signals import Terminated
from anchored.cli.output import print_json, print_table
from anchored.cli.processes import Ended, say

if TYPE_CHECKING:
    from anchored.paper import Job, Placement, Store, Summary

__all__ = ["COMMANDS"]

Count = Annotated[int | None, typer.Option(min=1)]
_STORE, _RESULTS = Path("runs/paper"), Path("results")


def list_tables(results: Path = _RESULTS, json: bool = False) -> None:
    """Name the tables and figures, and say how much of them is done.

    Args:
        results: Folder of the records of finished runs.
        json: Print the result as one JSON object on stdout.
    """
    from anchored.paper import TABLES, Results
    from anchored.paper.comparison import FULL, variant
    from anchored.paper.figures import FIGURES

    found: list[dict[str, Any]] = []
    for table in TABLES.values():
        records = Results(results).read(table.name)
        found.append(
            {
                "table": table.name,
                "rows": len(table.rows),
                "cells": len(table.cells),
                "seeds": len(table.seeds),
                "runs": len(table.rows) * len(table.cells) * len(table.seeds),
                "published": len(table.published),
                "done": sum(variant(record) == FULL for record in records),
                "shortened": sum(record["shortened"] for record in records),
                "claim": table.claim,
            }
        )
    figures = {name: figure.claim for name, figure in FIGURES.items()}
    if json:
        print_json({"tables": found, "figures": [{"figure": name, "claim": claim} for name, claim in figures.items()]})
        return
    rows = [
        [
            each["table"],
            f"{each['rows']} x {each['cells']} x {each['seeds']}",
            *(each[name] for name in ("published", "done", "shortened")),
        ]
        for each in found
    ]
    columns = ["table", "rows x cells x seeds", "published", "runs done", "shortened"]
    print_table("Tables", columns, rows, "run one with: anchored paper run TABLE --data-root FOLDER")
    note = "draw one with: anchored paper figure NAME --data-root FOLDER"
    print_table("Figures", ["figure", "claim"], list(figures.items()), note)


def run(
    table: Annotated[str, typer.Argument(metavar="TABLE")],
    method: list[str] | None = None,
    cell: list[str] | None = None,
    seeds: str | None = None,
    epochs: Count = None,
    precision: str = "32",
    evaluate_every: Annotated[int, typer.Option(min=1)] = 1,
    data_root: str | None = None,
    store: Path = _STORE,
    results: Path = _RESULTS,
    on: str = "local",
    jobs: Count = None,
    threads: Annotated[int, typer.Option(min=1)] = 1,
    gpus: Annotated[float, typer.Option(min=0)] = 0.0,
    slurm: list[str] | None = None,
    device: str = "auto",
    json: bool = False,
) -> None:
    """Run cells of a table; finished ones are skipped, stopped ones are resumed.

    The exit code is 1 if a cell failed.

    Args:
        table: Name of the table; see anchored paper list.
        method: Row, e.g. ce+fnpal, or a pattern; repeatable. All by default.
        cell: Cell, e.g. mnist/0.8, or a pattern, 'mnist/*'; repeatable. All by default.
        seeds: Seeds, separated by commas; by default the table's own.
        epochs: Another number of passes over the data; the records are marked as shortened.
        precision: Precision of the numbers: 32 as in the recipes, or bf16 for mixed precision, recorded separately.
        evaluate_every: Score the test set every N epochs and after the last; N > 1 is marked.
        data_root: Folder of the data sets.
        store: Folder of the runs; several runners may share it.
        results: Folder of the records of finished runs.
        on: Where to run: local, ray or slurm.
        jobs: Number of cells at a time; by default one per core, on a GPU one.
        threads: Threads of each cell.
        gpus: GPUs of each cell; on ray it may be a fraction.
        slurm: Setting for submitit, e.g. slurm_partition=gpu; repeatable.
        device: Device to compute on: auto, cpu, cuda …
        json: Print the result as one JSON object on stdout.
    """
    from anchored.paper import Placement, Results, Store, engines
    from anchored.paper import get as get_table
    from anchored.paper import run as run_jobs
    from anchored.paper.live import make_watcher

    the_table = get_table(table)
    asked = the_table.jobs(
        methods=method or (),
        cells=cell or (),
        seeds=_seeds(seeds),
        epochs=epochs,
        precision=precision,
        evaluate_every=evaluate_every,
    )
    root = None if data_root is None else str(Path(data_root).expanduser().absolute())
    placement = Placement(str(store.absolute()), root, threads, device)
    the_table.check_needs(root)
    _check(asked, placement)
    engine = engines.get(on, placement, jobs=jobs, gpus=gpus, parameters=_parameters(slurm))
    where = Store(placement.store)
    if on == "local":
        _warn(placement, precision)
    watcher = make_watcher(where, at_once=max(1, min(engine.free, len(asked))))
    try:
        summary = run_jobs(asked, where, Results(results), engine, watcher)
    except (KeyboardInterrupt, Terminated) as stopped:
        say("stopped; the checkpoints are kept, and the same command resumes from there")
        raise Ended(stopped.code if isinstance(stopped, Terminated) else 130) from None
    _tell(the_table.name, summary, where, json=json)


def compare(
    table: Annotated[str, typer.Argument(metavar="TABLE")],
    cell: list[str] | None = None,
    format: str = "markdown",
    out: Path | None = None,
    only_run: bool = False,
    results: Path = _RESULTS,
    json: bool = False,
) -> None:
    """Show our numbers beside the published ones.

    Args:
        table: Name of the table; see anchored paper list.
        cell: Cell, e.g. mnist/0.8, or a pattern, 'mnist/*'; repeatable. All by default.
        format: Format of the table: markdown, latex, csv or html.
        out: File to write it to; stdout by default.
        only_run: Leave out what was not run.
        results: Folder of the records of finished runs.
        json: Print the result as one JSON object on stdout.
    """
    from anchored._files import write_text
    from anchored.paper import Results, formats
    from anchored.paper import compare as compare_records
    from anchored.paper import get as get_table

    written = formats.get(format)
    the_table = get_table(table)
    comparison = compare_records(the_table, Results(results).read(the_table.name), cells=cell or (), only_run=only_run)
    if json:
        print_json(comparison.as_dict())
        return
    text = written(comparison)
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_text(out, text)
        typer.echo(f"written to {out}")


def docs(results: Path = _RESULTS, out: Path = Path("docs/paper/results.md")) -> None:
    """Write the page of results in the documentation from the records.

    Args:
        results: Folder of the records of finished runs.
        out: Page to write.
    """
    from anchored._files import write_text
    from anchored.paper import Results
    from anchored.paper.docs import results_page

    write_text(out, results_page(Results(results)))
    typer.echo(f"written to {out}")


def figure(
    name: Annotated[str, typer.Argument(metavar="NAME")],
    out: Path | None = None,
    data_root: str | None = None,
    store: Path = _STORE,
    epochs: Count = None,
    quick: bool = False,
    results: Path = _RESULTS,
    json: bool = False,
) -> None:
    """Draw a figure of the paper from real runs; missing runs are made first.

    Args:
        name: Name of the figure; see anchored paper list.
        out: Picture to write; NAME.svg by default.
        data_root: Folder of the data sets.
        store: Folder of the runs; several runners may share it.
        epochs: Another number of passes over the data; the picture says so.
        quick: Draw a small version in minutes; the picture says so.
        results: Folder of the records of finished runs.
        json: Print the result as one JSON object on stdout.
    """
    from anchored.cli.progress import make_progress
    from anchored.paper import figures

    chosen = figures.get(name)
    drawn = chosen.make(
        out=Path(f"{chosen.name}.svg") if out is None else out,
        store=store.absolute(),
        data_root=None if data_root is None else Path(data_root).expanduser().absolute(),
        epochs=epochs,
        quick=quick,
        progress=make_progress(),
        results=results,
    )
    if json:
        print_json({"figure": chosen.name, "file": str(drawn)})
    else:
        typer.echo(f"written to {drawn}")


def _seeds(text: str | None) -> list[int] | None:
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise InputError(f"--seeds takes whole numbers separated by commas, e.g. 0,1,2, got {text!r}")
    return list(dict.fromkeys(map(int, parts)))


def _parameters(settings: list[str] | None) -> dict[str, str | int]:
    found: dict[str, str | int] = {}
    for setting in settings or ():
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise InputError(f"--slurm takes name=value, e.g. slurm_partition=gpu, got {setting!r}")
        found[name] = int(value) if value.isascii() and value.isdigit() else value
    return found


def _check(jobs: list[Job], placement: Placement) -> None:
    """Refuse unknown methods and missing data before anything is written."""
    from anchored.paper.worker import check_data
    from anchored.training import pick_device

    pick_device(placement.device)
    for job in jobs:
        job.method  # noqa: B018 - reading it refuses an unknown name
    check_data(jobs, placement)


def _warn(placement: Placement, precision: str) -> None:
    """Say before the first cell that another precision would be faster here; the cells themselves are silent."""
    from anchored.training import pick_device, precision_warning

    if warning := precision_warning(pick_device(placement.device), precision):
        say(warning)


def _tell(table: str, summary: Summary, store: Store, *, json: bool) -> None:
    if json:
        print_json(
            {
                "table": table,
                "finished": [_named(job, store) for job in summary.finished],
                "skipped": [_named(job, store) for job in summary.skipped],
                "failed": [{**_named(job, store), "reason": reason} for job, reason in summary.failed],
            }
        )
    else:
        typer.echo(
            f"{len(summary.finished)} finished, {len(summary.skipped)} finished before, {len(summary.failed)} failed; "
            f"see them with: anchored paper compare {table}"
        )
    for job, reason in summary.failed:
        say(f"{job.title} failed: {reason}")
    if summary.failed:
        raise Ended(1)


def _named(job: Job, store: Store) -> dict[str, Any]:
    return {
        "cell": job.cell,
        "method": job.row,
        "seed": job.seed,
        "epochs": job.epochs,
        "shortened": job.shortened,
        "precision": job.precision,
        "evaluate_every": job.evaluate_every,
        "run": str(store.run(job).path),
    }


COMMANDS: dict[str, Callable[..., None]] = {
    "list": list_tables,
    "run": run,
    "compare": compare,
    "docs": docs,
    "figure": figure,
}
"""The commands below ``anchored paper``, by their names."""

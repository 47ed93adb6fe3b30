"""``anchored data NAME --root FOLDER``: get a built-in data set from its official address."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from anchored.cli.output import print_json


def data(
    name: str,
    root: Annotated[Path, typer.Option()],
    mirror: list[str] | None = None,
    json: bool = False,
) -> None:
    """Download a data set; complete files are kept, interrupted downloads go on.

    Args:
        name: Name of the data set: mnist, fashion-mnist, cifar10 or cifar100; agnews and cifar10n-* say
            how to get them.
        root: Folder to keep it in; give it to fit as --data-root.
        mirror: Another address to download from, ending in /; the official checksums must fit; repeatable.
        json: Print the result as one JSON object on stdout.
    """
    from anchored.data import download

    with _shown() as progress:
        folder = download(name, root, mirrors=mirror or None, progress=progress)
    if json:
        print_json({"name": name, "root": str(root), "folder": str(folder)})
    else:
        typer.echo(f"{name} is in {folder}; train on it with: anchored fit {name} --data-root {root}")


@contextmanager
def _shown() -> Iterator[Callable[[str, int, int | None], None]]:
    """Show a bar per file on a terminal, otherwise a line when a file begins."""
    begun: set[str] = set()

    def line(name: str, _done: int, total: int | None) -> None:
        if name not in begun:
            begun.add(name)
            print(f"{name}{'' if total is None else f', {total:,} bytes'}", file=sys.stderr, flush=True)

    if not sys.stderr.isatty():
        yield line
        return

    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
    from rich.progress import TransferSpeedColumn as Speed

    tasks: dict[str, TaskID] = {}
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), Speed(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as drawing:

        def draw(name: str, done: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = drawing.add_task(name, total=total)
            drawing.update(tasks[name], completed=done, total=total)

        yield draw

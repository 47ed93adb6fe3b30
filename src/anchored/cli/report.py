"""``anchored report RUN``: one HTML file on what was trained, how good it is and which labels to look at."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anchored.cli.output import AsJson, print_json
from anchored.cli.processes import tell

if TYPE_CHECKING:
    from anchored.runs import Fitted

_PATIENCE = 3.0  # seconds after which somebody who waits is told how far the work is


def report(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run.")],
    out: Annotated[Path | None, typer.Option(help="The file to write; by default report.html in the run.")] = None,
    compare: Annotated[
        Path | None,
        typer.Option(help="Another finished run to compare with; by default the one made before it beside it."),
    ] = None,
    data_root: Annotated[str | None, typer.Option(help="Where the data lies now, if it was moved.")] = None,
    json: AsJson = False,
) -> None:
    """Write the report of a finished run as one HTML file."""
    from anchored.report import make, place

    path = place(run, out)
    made = make(run, compare=compare, data_root=data_root, tell=Patience().tell)
    made.save(path)
    evidence = made.evidence
    for line in evidence.missing:
        tell(line)
    if not json:
        typer.echo(f"the report is in {path}")
        return
    print_json(
        {
            "report": str(path),
            "run": str(run),
            "compared_with": None if evidence.previous is None else str(evidence.previous.path),
            "missing": list(evidence.missing),
            "sections": [{"id": each.id, "title": each.title, "lead": each.lead} for each in made.sections],
        }
    )


def write_after_training(run: Path, fitted: Fitted | None = None) -> Path | None:
    """Write the report of a finished run; what goes wrong is told in one line, because the run itself is safe.

    Args:
        run: The folder of the run.
        fitted: What training has just given back, so that nothing is opened again; None opens it.

    Returns:
        The file that was written, or None if something went wrong.
    """
    from anchored.report import write

    try:
        return write(run, fitted=fitted)
    except Exception as error:
        said = " ".join(str(error).split()) or type(error).__name__
        tell(f"the run is finished, but its report was not written ({said}); try again with: anchored report {run}")
        return None


class Patience:
    """Tells how far the work is, but only those who wait for long."""

    def __init__(self) -> None:
        self._told = time.monotonic()

    def tell(self, done: int, all_: int) -> None:
        """Say it, if nothing was said for a while."""
        now = time.monotonic()
        if now - self._told >= _PATIENCE and done < all_:
            self._told = now
            tell(f"asked the model about {done:,} of {all_:,} samples")

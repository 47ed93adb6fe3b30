"""``anchored report RUN``: one HTML file about what was trained, how good it is and which labels to look at."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from anchored.cli.output import print_json
from anchored.cli.processes import tell

if TYPE_CHECKING:
    from anchored.runs import Fitted

_PATIENCE = 3.0  # seconds after which somebody who waits is told how far the work is


def report(
    run: Path,
    out: Path | None = None,
    compare: Path | None = None,
    data_root: str | None = None,
    json: bool = False,
) -> None:
    """Write the report of a finished run as one HTML file.

    Args:
        run: Folder of a finished run.
        out: File to write; by default report.html in the run.
        compare: Another finished run to compare with; by default the one made before it in the same folder.
        data_root: The data, or the folder that it lies in, if it was moved.
        json: Print the result as one JSON object on stdout.
    """
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
    """Write the report of a finished run; a failure is one line on stderr, because the run itself is safe.

    Args:
        run: Folder of the run.
        fitted: What training has just returned, so that nothing is opened again; None opens it.

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
    """Prints how far the work is, at most once in three seconds."""

    def __init__(self) -> None:
        self._told = time.monotonic()

    def tell(self, done: int, all_: int) -> None:
        """Print how far the work is, if nothing was printed for a while.

        Args:
            done: Samples that the model has answered.
            all_: Number of all samples.
        """
        now = time.monotonic()
        if now - self._told >= _PATIENCE and done < all_:
            self._told = now
            tell(f"asked the model about {done:,} of {all_:,} samples")

"""``anchored resume RUN``: go on where a run was stopped; the end is the same as if it had not been."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anchored.cli.output import AsJson


def resume(
    run: Annotated[Path, typer.Argument(help="The folder of the run.")],
    json: AsJson = False,
) -> None:
    """Go on with an interrupted run; of a finished one, show the result."""
    from anchored.cli.processes import tell
    from anchored.cli.train import show, train
    from anchored.runs import RunFolder, open_data

    folder = RunFolder.open(run)
    if folder.finished:
        tell(f"{run} is finished; this is its result")
        if not (folder.path / "report.html").is_file():  # stopped between the result and the report
            tell(f"its report is missing; draw it with: anchored report {run}")
    else:
        config = folder.read_config()
        train(open_data(config.data), config.as_dict(), folder, draw=True)
    show(folder, json=json)

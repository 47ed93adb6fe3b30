"""``anchored resume RUN``: go on with a run that was stopped; the result is the same as without the stop."""

from __future__ import annotations

from pathlib import Path


def resume(run: Path, json: bool = False) -> None:
    """Go on with an interrupted run; if it is finished, show the result.

    Args:
        run: Folder of the run.
        json: Print the result as one JSON object on stdout.
    """
    from anchored.cli.processes import tell
    from anchored.cli.report import write_after_training
    from anchored.cli.train import show, train
    from anchored.runs import RunFolder, open_data

    folder = RunFolder.open(run)
    if not folder.finished:
        settings = folder.read_settings()
        train(open_data(settings), settings, folder, draw=True)
    else:
        tell(f"{run} is finished; this is its result")
        if not (folder.path / "report.html").is_file():  # stopped between the result and the report
            with folder.owned():
                write_after_training(folder.path)
    show(folder, json=json)

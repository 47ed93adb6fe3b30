"""``anchored resume RUN``: go on with a run that was stopped; the result is the same as without the stop."""

from __future__ import annotations

from pathlib import Path

from anchored._errors import InputError


def resume(run: Path, data_root: str | None = None, json: bool = False) -> None:
    """Go on with an interrupted run; if it is finished, show the result.

    Args:
        run: Folder of the run.
        data_root: The data, or the folder that it lies in, if it was moved.
        json: Print the result as one JSON object on stdout.
    """
    from anchored.cli.processes import tell
    from anchored.cli.report import write_after_training
    from anchored.cli.train import show, train
    from anchored.runs import RunFolder, open_data

    folder = RunFolder.open(run)
    if not folder.finished:
        settings = folder.read_settings()
        train(open_data(settings, root=data_root), settings, folder, draw=True)
    else:
        if data_root is not None:
            raise InputError(f"{run} is finished, so --data-root is of no use; leave it out")
        tell(f"{run} is finished; this is its result")
        if not (folder.path / "report.html").is_file():  # stopped between the result and the report
            with folder.owned():
                write_after_training(folder.path)
    show(folder, json=json)

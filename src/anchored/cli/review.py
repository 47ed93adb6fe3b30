"""``anchored review RUN``: look at suspect labels in the browser, decide, and keep each decision at once.

Decisions go to ``RUN/corrections.csv``, which ``anchored fit --corrections`` takes. The suspects come from the audit in
``RUN/audit``; where there is none, it is made first.
"""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anchored._errors import InputError
from anchored.cli.output import AsJson, print_json
from anchored.cli.processes import tell

if TYPE_CHECKING:
    from anchored.cli.model import FinishedRun
    from anchored.data import Dataset
    from anchored.review import Cases, DecisionLog, Review
    from anchored.runs import RunData

_MOST = 100_000
_STATIC = 500
_STATIC_POOL = 500


def review(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run.")],
    corrections: Annotated[
        Path | None, typer.Option(help="Where decisions are kept; by default RUN/corrections.csv.")
    ] = None,
    static: Annotated[
        Path | None, typer.Option(help="Write one HTML file that works without a server, instead of serving.")
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(help=f"So many suspects at most; by default {_MOST:,}, in a static file {_STATIC}."),
    ] = None,
    port: Annotated[int, typer.Option(help="Where to listen on 127.0.0.1; 0 takes any free port.")] = 0,
    open_: Annotated[bool, typer.Option("--open/--no-open", help="Open the address in the browser.")] = True,
    data_root: Annotated[str | None, typer.Option(help="Where the data lies now, if it was moved.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda …")] = "auto",
    json: AsJson = False,
) -> None:
    """Look at suspect labels in the browser and decide on them."""
    if top is not None and top < 1:
        raise InputError(f"--top must be at least 1, got {top}")
    if static is not None and (static.is_dir() or not static.absolute().parent.is_dir()):
        raise InputError(f"--static must be a file in a folder that exists, got {str(static)!r}")

    from anchored.cli.model import load_run
    from anchored.runs import RunData, open_data

    loaded = load_run(run, device=device)
    asked = loaded.config.data
    split = open_data(asked if data_root is None else asked.model_copy(update={"root": data_root}))
    data = RunData.open(split, loaded.config)
    cases = _cases(loaded, data.labelled, data_root=data_root, device=device)
    if static is not None:
        _write(loaded, data.labelled, cases.top(top or _STATIC), static, json=json)
        return
    with _open_log(corrections or run / "corrections.csv", data, loaded) as log:
        shown = cases.top(top or _MOST)
        _serve(_review(loaded, data.labelled, shown, log=log), run, port, browse=open_, json=json)


def _cases(loaded: FinishedRun, dataset: Dataset, *, data_root: str | None, device: str) -> Cases:
    """Those of the audit in the run's folder, which is made where it is missing."""
    from anchored.audit import Audit
    from anchored.cli.audit import audit
    from anchored.review import Cases

    folder = loaded.path / "audit"
    if not (folder / "suspects.csv").is_file():
        tell(f"{loaded.path} was not audited yet; this comes first, and is kept in {folder}")
        with redirect_stdout(sys.stderr):  # what the audit found is worth a look, and is not this command's result
            audit(loaded.path, data_root=data_root, device=device)
    cases = Cases.of(Audit.load(folder))
    cases.check(dataset, where=str(folder))
    if not cases.rows:
        raise InputError(f"{folder}: the audit suspects no label, so there is nothing to review")
    return cases


def _open_log(path: Path, data: RunData, loaded: FinishedRun) -> DecisionLog:
    """The record of decisions; of a run that used corrections, a new one begins with them, so that one file has all."""
    from anchored.data import Corrections, correct, read_corrections
    from anchored.review import DecisionLog

    asked = loaded.config.data
    earlier = (
        () if asked.corrections is None else read_corrections(asked.corrections, digest=asked.corrections_digest).lines
    )
    log = DecisionLog(path, start=earlier)
    try:
        correct(data.uncorrected, Corrections(path, tuple(log.lines), ""))  # lines of other data are refused here
    except InputError:
        log.close()
        raise
    return log


def _review(
    loaded: FinishedRun, dataset: Dataset, cases: Cases, *, log: DecisionLog | None, pool: int = 2_000
) -> Review:
    from anchored.review import Neighbours, Review

    neighbours = Neighbours(loaded.model, dataset, limit=pool)
    return Review(f"{dataset.name}, {loaded.path.name}", dataset, cases, log=log, neighbours=neighbours)


def _write(loaded: FinishedRun, dataset: Dataset, cases: Cases, static: Path, *, json: bool) -> None:
    from anchored.review import write_static

    write_static(_review(loaded, dataset, cases, log=None, pool=_STATIC_POOL), static)
    if json:
        print_json({"run": str(loaded.path), "static": str(static), "suspects": len(cases)})
        return
    typer.echo(f"{len(cases):,} suspects written to {static}; open it in a browser, decide, download corrections.csv,")
    typer.echo(f"and train with: {_again(loaded.path, 'corrections.csv')}")


def _again(run: Path, corrections: Path | str) -> str:
    """The command that trains as the run did, with the corrections."""
    return f"anchored fit --config {run / 'config.yaml'} --corrections {corrections} --out NEW-RUN"


def _serve(review: Review, run: Path, port: int, *, browse: bool, json: bool) -> None:
    from anchored.review import ReviewServer

    assert review.log is not None, "opened by the caller"
    with ReviewServer(review, port=port) as server:
        if json:
            suspects, decided = len(review.cases), len(review.decisions())
            record = str(review.log.path)
            print_json({"address": server.address, "corrections": record, "suspects": suspects, "decided": decided})
        else:
            typer.echo(f"{len(review.cases):,} suspects; decisions are kept in {review.log.path}")
            typer.echo(f"open {server.address}")
            typer.echo("Ctrl-C ends the review; it can be taken up again at any time")
        sys.stdout.flush()  # the address must be seen now, also where it goes to a pipe
        if browse:
            _browse(server.address)
        try:
            server.serve()
        except KeyboardInterrupt:
            tell(f"{len(review.decisions())} decisions are kept; train with: {_again(run, review.log.path)}")


def _browse(address: str) -> None:
    """Open the browser beside the server; a machine without a screen has none to open."""
    import threading
    import webbrowser

    screen = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if screen:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

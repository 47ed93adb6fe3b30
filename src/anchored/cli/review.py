"""``anchored review RUN``: look at suspect labels in the browser and decide; each decision is written at once.

Decisions go to ``RUN/corrections.csv``, which ``anchored fit --corrections`` takes. The suspects come from the audit in
``RUN/audit``; if there is none, it is made first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from anchored._errors import InputError
from anchored.cli.output import print_json
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
    run: Path,
    corrections: Path | None = None,
    static: Path | None = None,
    top: int | None = None,
    order: str = "rank",
    port: int = 0,
    open_: Annotated[bool, typer.Option("--open/--no-open")] = True,
    data_root: str | None = None,
    device: str = "auto",
    json: bool = False,
) -> None:
    """Look at suspect labels in the browser and decide on them.

    Args:
        run: Folder of a finished run.
        corrections: File that keeps the decisions; by default RUN/corrections.csv.
        static: Write one HTML file that works without a server, instead of serving.
        top: Largest number of suspects; by default 100,000, in a static file 500.
        order: Order of the suspects: rank, the most probably wrong first; or value, which also puts off what looks like
            something already on the list.
        port: Port to listen on at 127.0.0.1; 0 takes any free one.
        open_: Open the address in the browser.
        data_root: The data, or the folder that it lies in, if it was moved.
        device: Device to compute on: auto, cpu, cuda …
        json: Print the result as one JSON object on stdout.
    """
    if not 0 <= port <= 65535:
        raise InputError(f"--port must lie in 0..65535, got {port}; 0 takes any free one")
    if top is not None and top < 1:
        raise InputError(f"--top must be at least 1, got {top}")
    if order not in ("rank", "value"):
        raise InputError(f"--order must be rank or value, got {order!r}")
    if static is not None and (static.is_dir() or not static.absolute().parent.is_dir()):
        raise InputError(f"--static must be a file in a folder that exists, got {str(static)!r}")

    from anchored.cli.model import load_run
    from anchored.runs import RunData, open_data

    loaded = load_run(run, device=device)
    split = open_data(loaded.config, root=data_root)
    data = RunData.open(split, loaded.config, encoder=loaded.model.encoder)
    cases = _cases(loaded, data.labelled, data_root=data_root, device=device)
    if order == "value":
        from anchored.review import Neighbours

        cases = cases.by_value(Neighbours(loaded.model, data.labelled).features)
    if static is not None:
        _write(loaded, data, cases.top(top or _STATIC), static, json=json)
        return
    with _open_log(corrections or run / "corrections.csv", data, loaded) as log:
        shown = cases.top(top or _MOST)
        _serve(_review(loaded, data, shown, log=log), run, port, browse=open_, json=json)


def _cases(loaded: FinishedRun, dataset: Dataset, *, data_root: str | None, device: str) -> Cases:
    """Read the suspects of the audit in the run's folder; the audit is made if it is missing."""
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
    """Open the file of decisions; a new one begins with the corrections that the run used, so that one file has all."""
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


def _review(loaded: FinishedRun, data: RunData, cases: Cases, *, log: DecisionLog | None, pool: int = 2_000) -> Review:
    from functools import partial

    from anchored.review import Neighbours, Review
    from anchored.runs import SpeakingColumns, speaking_words

    shown = data.raw
    columns = SpeakingColumns.of(data, loaded.model)
    number = {name: j for j, name in enumerate(cases.class_names)}
    given, suggested = ([number[getattr(row, name)] for row in cases.rows] for name in ("given", "suggested"))
    speaking = None if columns is None else columns.order([row.index for row in cases.rows], given, suggested)
    neighbours = Neighbours(loaded.model, data.labelled, limit=pool)
    words = partial(speaking_words, loaded.model) if shown.kind == "texts" else None
    title = f"{shown.name}, {loaded.path.name}"
    return Review(title, shown, cases, log=log, neighbours=neighbours, words=words, speaking=speaking)


def _write(loaded: FinishedRun, data: RunData, cases: Cases, static: Path, *, json: bool) -> None:
    from anchored.review import write_static

    write_static(_review(loaded, data, cases, log=None, pool=_STATIC_POOL), static)
    if json:
        print_json({"run": str(loaded.path), "static": str(static), "suspects": len(cases)})
        return
    typer.echo(f"{len(cases):,} suspects written to {static}; open it in a browser, decide, download corrections.csv,")
    typer.echo(f"and train with: {_again(loaded.path, 'corrections.csv')}")


def _again(run: Path, corrections: Path | str) -> str:
    """Write the command that trains as the run did, with the corrections."""
    return f"anchored fit --config {run / 'config.yaml'} --corrections {corrections} --out NEW-RUN"


def _serve(review: Review, run: Path, port: int, *, browse: bool, json: bool) -> None:
    from anchored.review import ReviewServer

    assert review.log is not None, "opened by the caller"
    with ReviewServer(review, port=port) as server:
        if json:
            suspects, decided = len(review.cases), len(review.decisions())
            record = str(review.log.path)
            print_json(
                {
                    "address": server.address,
                    "corrections": record,
                    "suspects": suspects,
                    "doubted_without_suggestion": review.cases.unresolved,
                    "decided": decided,
                }
            )
        else:
            typer.echo(f"{len(review.cases):,} suspects; decisions are kept in {review.log.path}")
            if review.cases.unresolved:
                typer.echo(
                    f"{review.cases.unresolved:,} more labels are doubted, but no other class is likelier than the "
                    "given one, so there is nothing to suggest for them"
                )
            typer.echo(f"open {server.address}")
            typer.echo("Ctrl-C ends the review; it can be taken up again at any time")
        sys.stdout.flush()  # the address must be seen now, even if stdout is a pipe
        try:
            with _door(server.address) as door:
                if browse:
                    _browse(door)
                server.serve()
        except KeyboardInterrupt:
            tell(f"{len(review.decisions())} decisions are kept; train with: {_again(run, review.log.path)}")


@contextmanager
def _door(address: str) -> Iterator[str]:
    """Yield the address of a private file that leads to the page: whoever lists processes must not see the secret."""
    place = os.environ.get("XDG_RUNTIME_DIR")
    with TemporaryDirectory(prefix="anchored-review-", dir=place if place and Path(place).is_dir() else None) as folder:
        door = Path(folder) / "review.html"
        door.touch(mode=0o600)
        door.write_text(
            '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
            f'<meta http-equiv="refresh" content="0; url={escape(address)}"><title>anchored review</title>',
            encoding="utf-8",
        )
        yield door.as_uri()


def _browse(door: str) -> None:
    """Open the browser, if the machine has a screen."""
    import threading
    import webbrowser

    screen = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if screen:
        threading.Thread(target=webbrowser.open, args=(door,), daemon=True).start()

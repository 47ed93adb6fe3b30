"""``anchored audit RUN --out FOLDER``: how bad the labels are, which ones, and what they should be.

Of the data that the run was trained on, no label is judged by a model that saw it: two models are trained on a half
each, for a part of the run's epochs, and judge the other half. What they say is kept in the run, so that a second audit
takes seconds. Other data is judged by the run's own model.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anchored._errors import InputError
from anchored.cli.output import AsJson, print_json, print_table
from anchored.cli.processes import tell

if TYPE_CHECKING:
    from torch import Tensor

    from anchored.audit import Audit
    from anchored.cli.model import FinishedRun
    from anchored.data import Dataset

_FORMATS = ("csv", "parquet", "json")
_SHOWN = 10


def audit(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run.")],
    out: Annotated[Path | None, typer.Option(help="The folder to write to; by default RUN/audit.")] = None,
    data: Annotated[str | None, typer.Option(help="Other labelled data to judge, instead of the run's own.")] = None,
    formats: Annotated[
        list[str] | None, typer.Option("--format", help="Of the ranking, beside csv: parquet, json; repeatable.")
    ] = None,
    quick: Annotated[
        bool, typer.Option(help="Judge by the run's own model: no training, but it saw the labels.")
    ] = False,
    duplicates: Annotated[bool, typer.Option(help="Look for near-duplicates under different labels.")] = True,
    data_root: Annotated[str | None, typer.Option(help="Where a built-in set lies, or image paths start.")] = None,
    label: Annotated[
        str | None, typer.Option(help="The label column of other data; by default that of training.")
    ] = None,
    image: Annotated[str | None, typer.Option(help="The column of image paths in other data.")] = None,
    part: Annotated[str | None, typer.Option(help="train or test, of other data with both; test by default.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda …")] = "auto",
    json: AsJson = False,
) -> None:
    """Rank the labels by how probably they are wrong."""
    wrong = [form for form in formats or () if form not in _FORMATS]
    if wrong:
        raise InputError(f"--format must be one of {', '.join(_FORMATS)}, got {wrong[0]!r}")
    if out is not None and out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file; give a folder for the audit")
    if data is not None and out is None:
        raise InputError("--out FOLDER is needed for other data; RUN/audit is about the run's own")

    from anchored._random import stream
    from anchored.audit import audit as judge
    from anchored.cli.model import load_run

    loaded = load_run(run, device=device)
    if data is None:
        dataset = _own_data(loaded, data_root)
        logits = None if quick else _logits(loaded, dataset)
    else:
        dataset = loaded.open(data, labels="required", root=data_root, label=label, image=image, part=part)
        logits = None
    found = judge(
        loaded.model,
        dataset,
        logits=logits,
        duplicates=duplicates,
        generator=stream(loaded.config.train.seed, "noise rate"),
    )
    folders = [folder for folder in (out, run / "audit" if data is None else None) if folder is not None]
    for folder in dict.fromkeys(folder.resolve() for folder in folders):
        found.save(folder, formats=formats or ())
    _show(found, run, folders[0], json=json)


def _own_data(loaded: FinishedRun, root: str | None) -> Dataset:
    """The training data as the run was given it, corrupted and corrected alike."""
    from anchored.runs import RunData, open_data

    return RunData.open(open_data(loaded.config.data, root=root), loaded.config).labelled


def _logits(loaded: FinishedRun, dataset: Dataset) -> Tensor:
    """What two models say of each other's half: from the run, or trained now and kept there."""
    from anchored.audit import cross_fit
    from anchored.cli.progress import make_progress
    from anchored.runs import OWN_BACKBONE, RunFolder

    if loaded.model.description.get("backbone", {}).get("name") == OWN_BACKBONE:
        raise InputError(
            f"{loaded.path} was trained with a module of your own, which cannot be made again here; "
            f"use --quick, or anchored.audit.cross_fit from Python"
        )
    run = RunFolder.open(loaded.path)
    kept = run.read_look(len(dataset))
    if kept is None:
        tell("training two models, each on half of the data, to judge the labels of the other half")
        with run.owned():
            kept = cross_fit(dataset, loaded.config, folder=run.look_path, progress=make_progress())
    return kept.logits


def _show(found: Audit, run: Path, folder: Path, *, json: bool) -> None:
    if json:
        print_json({"run": str(run), "out": str(folder), **found.as_dict()})
        return
    rows = [
        [s.id, s.given, s.suggested, f"{s.probability_wrong:.3f}", f"{s.margin:.2f}"] for s in found.suspects[:_SHOWN]
    ]
    columns = ["sample", "given", "suggested", "wrong with probability", "margin"]
    print_table(found.describe(), columns, rows, f"all {found.samples:,} are in {folder / 'suspects.csv'}")

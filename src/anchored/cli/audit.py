"""``anchored audit RUN --out FOLDER``: how many labels are wrong, which ones, and what they should be.

No label of the training data is judged by a model that saw it: two models are trained, each on one half, for a part of
the run's epochs, and judge the other half. Their answers are kept in the run, so a second audit takes seconds. Other
data is judged by the run's own model.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anchored._errors import InputError
from anchored.cli.output import print_json, print_table
from anchored.cli.processes import tell

if TYPE_CHECKING:
    from torch import Tensor

    from anchored.audit import Audit
    from anchored.cli.model import FinishedRun
    from anchored.data import Dataset

_FORMATS = ("csv", "parquet", "json")
_SHOWN = 10


def audit(
    run: Path,
    out: Path | None = None,
    data: str | None = None,
    formats: Annotated[list[str] | None, typer.Option("--format")] = None,
    quick: bool = False,
    duplicates: bool = True,
    data_root: str | None = None,
    label: str | None = None,
    image: str | None = None,
    part: str | None = None,
    device: str = "auto",
    json: bool = False,
) -> None:
    """Rank the labels by how probably they are wrong.

    Args:
        run: Folder of a finished run.
        out: Folder to write to; by default RUN/audit.
        data: Other labelled data to judge instead of the run's own.
        formats: Format of the ranking beside csv: parquet or json; repeatable.
        quick: Judge by the run's own model: no training, but this model has seen the labels.
        duplicates: Look for near-duplicates that carry different labels.
        data_root: Folder of a built-in data set, or the folder that image paths start from.
        label: Label column of the other data; by default the one of training.
        image: Column of image paths in the other data.
        part: Part of the other data: train or test; test by default if it has both.
        device: Device to compute on: auto, cpu, cuda …
        json: Print the result as one JSON object on stdout.
    """
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
    """Open the training data as the run used it, after corruption and corrections."""
    from anchored.runs import RunData, open_data

    return RunData.open(open_data(loaded.config, root=root), loaded.config).labelled


def _logits(loaded: FinishedRun, dataset: Dataset) -> Tensor:
    """Return the logits of two models about each other's half: from the run, or trained now and kept there."""
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
    columns = ["sample", "given label", "suggested label", "wrong with probability", "margin"]
    print_table(found.describe(), columns, rows, f"all {found.samples:,} are in {folder / 'suspects.csv'}")

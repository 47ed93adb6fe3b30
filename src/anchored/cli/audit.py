"""``anchored audit RUN --out FOLDER``: how many labels are wrong, which ones, and what they should be.

No label of the training data is judged by a model that saw it: two models are trained, each on one half, for a part of
the run's epochs, and judge the other half. Their answers are kept in the run, so a second audit takes seconds. Other
data is judged by the run's own model.

``--check 50`` draws a random sample for a person, as ``RUN/audit/check.csv`` to fill in and as a page to decide in. The
answers, in that file or given by ``--answers``, correct the rate, its interval and the probabilities.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anchored._errors import InputError
from anchored.cli.model import check_part, load_run
from anchored.cli.output import print_json, print_table
from anchored.cli.processes import tell

if TYPE_CHECKING:
    from torch import Tensor

    from anchored.audit import Audit, Check
    from anchored.cli.model import FinishedRun
    from anchored.data import Dataset
    from anchored.runs import RunData

_FORMATS = ("csv", "parquet", "json")
_SHOWN = 10
_CHECK, _PAGE = "check.csv", "check.html"
_NEIGHBOURS = 500


def audit(
    run: Path,
    out: Path | None = None,
    data: str | None = None,
    formats: Annotated[list[str] | None, typer.Option("--format")] = None,
    quick: bool = False,
    duplicates: bool = True,
    check: int | None = None,
    answers: Path | None = None,
    data_root: str | None = None,
    label: str | None = None,
    image: str | None = None,
    part: str | None = None,
    device: str = "auto",
    spreadsheet_safe: bool = False,
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
        check: Draw so many labels at random for a person to check; 50 is a good start.
        answers: File with a person's answers about them: check.csv filled in, or corrections.csv from the page.
        data_root: The data, or the folder that it lies in, if it was moved; with --data as for fit.
        label: Label column of the other data; by default the one of training.
        image: Column of image paths in the other data.
        part: Part of the other data: train or test; test by default if it has both.
        device: Device to compute on: auto, cpu, cuda …
        spreadsheet_safe: In the suspects.csv of --out, put an apostrophe before names that a spreadsheet would run as
            formulas; the one in the run stays as it is, for anchored review.
        json: Print the result as one JSON object on stdout.
    """
    wrong = [form for form in formats or () if form not in _FORMATS]
    if wrong:
        raise InputError(f"--format must be one of {', '.join(_FORMATS)}, got {wrong[0]!r}")
    if out is not None and out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file; give a folder for the audit")
    if data is not None and out is None:
        raise InputError("--out FOLDER is needed for other data; RUN/audit is about the run's own")
    if data is not None and (check is not None or answers is not None):
        raise InputError("--check and --answers are about the run's own labels; leave --data out")
    if spreadsheet_safe and (out is None or out.resolve() == (run / "audit").resolve()):
        raise InputError("--spreadsheet-safe needs --out FOLDER; RUN/audit is read again by anchored review")
    if data is None:
        for name, value in (("--label", label), ("--image", image), ("--part", part)):
            if value is not None:
                raise InputError(f"{name} is about other data; give it with --data, or leave it out")
    check_part(part)

    from anchored._random import stream
    from anchored.audit import audit as judge

    loaded = load_run(run, device=device)
    if data is None:
        own = _own_data(loaded, data_root)
        dataset = own.labelled
        drawn = _check(loaded, dataset, check, answers)
        logits = None if quick else _logits(loaded, dataset)
        known = None if quick else _known(loaded)
    else:
        dataset = loaded.open(data, labels="required", root=data_root, label=label, image=image, part=part)
        own, drawn, logits, known = None, None, None, None
    found = judge(
        loaded.model,
        dataset,
        logits=logits,
        duplicates=duplicates,
        answers=None if drawn is None else drawn.answers,
        known=known,
        generator=stream(loaded.config.train.seed, "noise rate"),
        say=tell,
    )
    folders = [folder for folder in (out, run / "audit" if data is None else None) if folder is not None]
    kept = (run / "audit").resolve()
    for folder in dict.fromkeys(folder.resolve() for folder in folders):
        found.save(folder, formats=formats or (), spreadsheet_safe=spreadsheet_safe and folder != kept)
    if drawn is not None:
        drawn.save(run / "audit" / _CHECK, dataset)
    if check is not None and drawn is not None and own is not None:
        _write_page(loaded, own, found, drawn)
    _show(found, run, folders[0], drawn, json=json)


def _own_data(loaded: FinishedRun, root: str | None) -> RunData:
    """Open the training data as the run used it, after corruption and corrections."""
    from anchored.runs import RunData, open_data

    split = open_data(loaded.config, root=root)
    return RunData.open(split, loaded.config, encoder=loaded.model.encoder)


def _check(loaded: FinishedRun, dataset: Dataset, size: int | None, answers: Path | None) -> Check | None:
    """Draw a sample or read the one that was drawn, with all answers so far; None if nobody asked for any."""
    from anchored._random import stream
    from anchored.audit import Check, check_sample, read_check

    path = loaded.path / "audit" / _CHECK
    kept = read_check(path, dataset) if path.is_file() else None
    if size is not None:
        if kept is not None and kept.answers:
            raise InputError(
                f"{path} holds {len(kept.answers)} answers, and a new sample would replace them; audit without "
                f"--check to use them, or remove the file"
            )
        kept = Check(check_sample(len(dataset), size, stream(loaded.config.train.seed, "check")), {})
    if answers is not None:
        if kept is None:
            raise InputError(f"{path} is missing; draw a sample first: anchored audit {loaded.path} --check 50")
        kept = kept.answered_in(answers, dataset)
        if not kept.answers:
            raise InputError(f"{answers} answers none of the samples in {path}; fill in their labels")
    return kept


def _write_page(loaded: FinishedRun, data: RunData, found: Audit, drawn: Check) -> None:
    """Write the sample as a review page, in the order in which it was drawn and not by suspicion."""
    from anchored.review import Cases, Neighbours, Review, write_static

    shown, rows = data.raw, {each.index: each for each in found.suspects}
    cases = Cases(shown.class_names, tuple(rows[place] for place in drawn.places.tolist()))
    title = f"{len(cases)} labels of {shown.name}, drawn at random"
    neighbours = Neighbours(loaded.model, data.labelled, limit=_NEIGHBOURS)
    write_static(Review(title, shown, cases, neighbours=neighbours, all_cases=True), loaded.path / "audit" / _PAGE)


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


def _known(loaded: FinishedRun) -> bool | None:
    """Return whether the look found that anything can be known about the labels; None if it did not say."""
    from anchored._files import read_json
    from anchored.runs import RunFolder

    path = RunFolder.open(loaded.path).look_path / "opinions.json"
    said = read_json(path, way_out="remove it").get("knowable") if path.is_file() else None
    return said if isinstance(said, bool) else None


def _show(found: Audit, run: Path, folder: Path, drawn: Check | None, *, json: bool) -> None:
    waiting = 0 if drawn is None else len(drawn.places) - len(drawn.answers)
    if json:
        print_json({"run": str(run), "out": str(folder), "to_check": waiting, **found.as_dict()})
        return
    if found.noise_rate is None:
        tell(f"warning: {found.describe()}")
    else:
        rows = [
            [s.id, s.given, s.suggested, f"{s.probability_wrong:.3f}", f"{s.margin:.2f}"]
            for s in found.suspects[:_SHOWN]
        ]
        columns = ["sample", "given label", "suggested label", "wrong with probability", "margin"]
        print_table(found.describe(), columns, rows, f"all {found.samples:,} are in {folder / 'suspects.csv'}")
    if waiting and drawn is not None:
        file, page = run / "audit" / _CHECK, run / "audit" / _PAGE
        typer.echo(f"{waiting} of {len(drawn.places)} labels drawn at random wait for a person:")
        typer.echo(f"  fill in the column 'label' of {file} (the right class; empty if nobody can tell),")
        typer.echo(f"  then: anchored audit {run}")
        if page.is_file():
            typer.echo(f"  or decide in {page}, download corrections.csv,")
            typer.echo(f"  then: anchored audit {run} --answers corrections.csv")

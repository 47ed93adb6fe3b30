"""``anchored predict RUN DATA --out FILE``: a label, its probability, and whether to trust it, row by row.

The columns are those of :mod:`anchored.export.prediction_file`. ``abstain`` is true if the calibrated probability is
below ``--min-confidence``; the likeliest label is written all the same. A picture or a row that cannot be read is named
under ``error``, and the others go on. Tables are read and written in chunks, so they may be of any length; the file
appears when it is complete.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anchored._errors import InputError
from anchored.cli.model import check_part, check_root, choose_part
from anchored.cli.output import print_json, print_table
from anchored.cli.prior import with_prior
from anchored.cli.processes import tell

if TYPE_CHECKING:
    from anchored.data import Chunk, SourceOptions
    from anchored.runs import TrainedModel

_ERRORS_TOLD = 10
_ENCODED_AT_ONCE = 1024
_SECONDS_SILENT = 10.0


def predict(
    run: Path,
    data: str,
    out: Annotated[Path, typer.Option()],
    min_confidence: float = 0.0,
    data_root: str | None = None,
    image: str | None = None,
    part: str | None = None,
    prior: str | None = None,
    device: str = "auto",
    spreadsheet_safe: bool = False,
    json: bool = False,
) -> None:
    """Label new data with a trained model.

    Args:
        run: Folder of a finished run, or of a model alone.
        data: Data to label: any source that fit takes; a folder of images without class folders will do.
        out: File to write: .csv, .parquet or .jsonl.
        min_confidence: Abstain if the calibrated probability is below this.
        data_root: Folder of a built-in data set, or the folder that image paths start from.
        image: Column of image paths in a table.
        part: Part of the data: train or test; test by default if it has both.
        prior: Frequencies of the classes in use: numbers a,b,c in their order, or a file of names and numbers.
        device: Device to compute on: auto, cpu, cuda …
        spreadsheet_safe: In a .csv, put an apostrophe before names that a spreadsheet would run as formulas.
        json: Print the result as one JSON object on stdout.
    """
    if not 0.0 <= min_confidence <= 1.0:
        raise InputError(f"--min-confidence must lie in [0, 1], got {min_confidence}; it is a probability")
    check_part(part)
    check_root(data, data_root)
    if out.is_dir() or not out.parent.is_dir():
        raise InputError(f"--out must be a file in a folder that exists, got {str(out)!r}")
    if out.exists() and Path(data).exists() and out.samefile(data):
        raise InputError(f"--out {out} is the data itself; name another file")

    from anchored._files import write_atomically
    from anchored.export import PredictionFile, load, predictions

    form = PredictionFile(out, spreadsheet_safe=spreadsheet_safe)
    model = with_prior(load(run, device=device), prior)
    chunks = _chunks(run, model, data, root=data_root, image=image, part=part)
    seen: Counter[str | None] = Counter()
    n = abstained = broken = 0
    told = time.monotonic()

    def write(path: Path) -> None:
        nonlocal n, abstained, broken, told
        with form.open(path) as add:
            for said in predictions(model, chunks, min_confidence=min_confidence):
                add(said)
                errors = [error for error in said.error if error is not None]
                for error in errors[: max(0, _ERRORS_TOLD - broken)]:
                    tell(error)
                broken += len(errors)
                n += len(said.id)
                abstained += sum(said.abstain) - len(errors)
                seen.update(said.label)
                if time.monotonic() - told > _SECONDS_SILENT:
                    tell(f"{n:,} rows so far")
                    told = time.monotonic()

    write_atomically(out, write)
    if broken > _ERRORS_TOLD:
        tell(f"{broken - _ERRORS_TOLD} more could not be read; see the column error of {out}")
    if json:
        labels = {name: seen[name] for name in model.class_names}
        result = {"run": str(run), "data": data, "out": str(out), "n": n, "labels": labels}
        print_json({**result, "abstained": abstained, "broken": broken})
        return
    table = [[name, seen[name]] for name in model.class_names if seen[name]]
    note = f"{n} rows, {abstained} abstained, {broken} could not be read; written to {out}"
    print_table(f"predicted by {run}", ["label", "rows"], table, note)


def _chunks(
    run: Path, model: TrainedModel, data: str, *, root: str | None, image: str | None, part: str | None
) -> Iterator[Chunk]:
    """Read the data in the shape and columns of the model; by default with the columns that training was told."""
    from functools import partial

    from anchored.data import BUILT_IN, LISTS, TABLES, chunks, open_source, stream_list, stream_table
    from anchored.features import encode_each
    from anchored.runs import RunFolder

    folder = RunFolder(run)
    asked = folder.read_config().data if folder.started else None  # a model alone has no configuration
    label = None if asked is None or asked.source.lower().endswith(".npy") else asked.label  # there, it is a file
    if image is None and asked is not None:
        image = asked.image
    # Encoded in larger chunks: the encoder itself takes a few at a time, and the last of them is padded.
    encoder = model.encoder
    read, size = (None, None) if encoder is None else (partial(encode_each, encoder), _ENCODED_AT_ONCE)
    path = Path(data).expanduser()
    suffix = path.suffix.lower() if data not in BUILT_IN and path.is_file() else ""
    if suffix in (*TABLES, *LISTS) and part == "test":
        raise InputError(f"{data}: the data has no test part; leave --part out")
    if suffix in TABLES:
        known = model.source_options
        return stream_table(
            path,
            shape=model.raw_shape,
            label=label,
            image=image,
            root=root,
            columns=known.get("columns"),
            size=None if known.get("form") == "table" else size,
            read=read,
            form=known.get("form", "auto"),
            verbatim=known.get("verbatim", ()),
        )
    if suffix in LISTS:
        return stream_list(path, shape=model.raw_shape, root=root, size=size, read=read)
    options: SourceOptions = {
        **model.source_options,
        "root": asked.root if root is None and asked is not None and data in BUILT_IN else root,
        "label": label,
        "image": image,
        "class_names": model.class_names,
        "labels": "ignored",
        "memory_limit": 0,  # each image is opened when it is its turn
    }
    split = open_source(data, **options)
    return chunks(choose_part(split, part, data=data), size=size, read=read)

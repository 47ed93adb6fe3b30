"""``anchored fit DATA``: train on data with imperfect labels, calibrate, and keep everything as a run."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anchored._errors import InputError
from anchored.cli.model import check_root

if TYPE_CHECKING:
    from anchored.training import DataConfig, RunConfig

_DEFAULT_PARENT = Path("runs")


def fit(
    data: Annotated[str | None, typer.Argument()] = None,
    out: Path | None = None,
    method: str | None = None,
    backbone: str | None = None,
    encoder: str | None = None,
    weights: str | None = None,
    tune: str | None = None,
    minutes: float | None = None,
    epochs: int | None = None,
    batch_size: int | None = None,
    lr: float | None = None,
    noise_rate: str | None = None,
    seed: int | None = None,
    config: Path | None = None,
    set_: Annotated[list[str] | None, typer.Option("--set")] = None,
    corrupt: list[str] | None = None,
    corrections: str | None = None,
    data_root: str | None = None,
    label: str | None = None,
    image: str | None = None,
    drop: list[str] | None = None,
    as_: Annotated[list[str] | None, typer.Option("--as")] = None,
    test: str | None = None,
    precision: str | None = None,
    device: str | None = None,
    report: bool = True,
    json: bool = False,
) -> None:
    """Train a classifier, calibrate it, score it, and report on it.

    Args:
        data: Data to train on: a built-in name (digits, mnist, fashion-mnist, cifar10, cifar100), a folder of class
            folders of photos or texts, or a .csv, .parquet, .npz, .npy or list (.txt) file.
        out: Folder of the run; by default runs/DATA-METHOD-HASH, where HASH names the settings.
        method: Training method: auto, or a name such as ce, ce+fnpal, nce+rce+pal, ldam+drw.
        backbone: Network: auto, or a name such as mlp, cnn4, resnet32, timm:NAME.
        encoder: Pretrained encoder of photos, texts or rows: auto, none, or a name such as efficientnet-lite0,
            wordllama, tfidf, timm:NAME, hf:NAME.
        weights: File of weights for the encoder.
        tune: What is trained above or in the encoder: none (the frozen answer), head (a network on the features) or all
            (the encoder itself, for photos); by default all if --minutes are given, else none.
        minutes: Time for the whole run on photos: after the frozen answer, the rest of it goes into fine-tuning the
            encoder, and the better answer is kept; 0, the default, is the frozen answer alone.
        epochs: Number of passes over the data.
        batch_size: Samples per step, over all processes.
        lr: Largest learning rate.
        noise_rate: Share of wrong labels, if it is known, or auto.
        seed: Seed of everything random; the same seed and number of threads give the same run.
        config: YAML file of settings, such as the config.yaml of a run.
        set_: Any setting as path=value; it wins over flags, which win over --config; repeatable.
        corrupt: Make the training data worse: symmetric=0.8, asymmetric=0.4, longtail=100 or step=10; repeatable.
        corrections: Decisions on labels, as anchored review writes them: a corrections.csv.
        data_root: Folder of a built-in data set, or the folder that image paths in a table or list start from.
        label: Label column of a table, or label file of an .npy.
        image: Column of image paths in a table.
        drop: Column of a table to leave out; repeatable.
        as_: What a column is, as COLUMN=KIND: number, category, date, date:dmy, date:mdy, text or id; repeatable.
        test: Second source of the same kind to test on.
        precision: Precision of the numbers: 32, 64 or bf16.
        device: Device to compute on: auto, cpu, cuda …
        report: Write RUN/report.html at the end.
        json: Print the result as one JSON object on stdout.
    """
    if out is None:
        _check_writable(_DEFAULT_PARENT, name=f"the folder {_DEFAULT_PARENT} for the runs")
    else:
        _check_free(out)

    from anchored._progress import telling
    from anchored.cli.processes import tell
    from anchored.cli.settings import gather, number_or_auto
    from anchored.cli.train import show, train
    from anchored.runs import RunFolder, default_path, open_data

    flags: dict[str, dict[str, Any]] = {
        "data": {
            "source": data,
            "root": data_root,
            "label": label,
            "image": image,
            "test": test,
            "corrupt": corrupt or None,
            "corrections": corrections,
        },
        "method": {"name": method, "noise_rate": number_or_auto(noise_rate, flag="--noise-rate")},
        "backbone": {"name": backbone},
        "optimizer": {"lr": lr},
        "tune": {"what": tune, "minutes": minutes},
        "train": {"epochs": epochs, "batch_size": batch_size, "seed": seed, "precision": precision, "device": device},
    }
    if encoder == "none":
        set_ = ["features.encoder=null", *(set_ or [])]
    elif encoder is not None or weights is not None:
        flags["features"] = {"encoder": encoder, "weights": weights}
    if drop or as_:
        from anchored.features import kinds_of

        told = {"drop": drop or None, "kinds": kinds_of(as_ or []) or None}
        flags["features"] = {**flags.get("features", {}), **told}
    settings = gather(config, flags, set_ or [])
    _check_columns(settings.data)
    _check_words(settings)
    with telling(tell):
        split = open_data(settings)
    run = RunFolder.plan(default_path(settings, _DEFAULT_PARENT), unnamed=True) if out is None else RunFolder.plan(out)
    train(split, settings, run, draw=report)
    show(run, json=json)


def _check_free(out: Path) -> None:
    """Refuse at once what would be refused after reading the data; torch is not needed for that."""
    if out.is_dir() and any(out.iterdir()):
        from anchored.runs import RunFolder

        RunFolder.plan(out)
    _check_writable(out, name=f"--out {out}")


def _check_writable(folder: Path, *, name: str) -> None:
    """Refuse a folder that cannot be made, by a nameless file beside it: permissions do not tell of every disk."""
    path = folder.absolute()
    parent = next(place for place in (path, *path.parents) if place.exists())
    if not parent.is_dir():
        raise InputError(f"{name} cannot be made, because {parent} is a file; choose another folder")
    try:
        with TemporaryFile(dir=parent):  # nothing is left of it, whenever the process is killed
            pass
    except OSError as error:
        raise InputError(
            f"{name} cannot be made, because {parent} cannot be written to ({error.strerror}); choose another folder"
        ) from None


def _check_columns(data: DataConfig) -> None:
    """Refuse the name of a column if the data has no columns: it is meant for other data."""
    from anchored.data import BUILT_IN

    check_root(data.source, data.root)
    if data.side is not None and (data.source in BUILT_IN or data.source.lower().endswith((".npz", ".npy"))):
        raise InputError(f"data.side is for images in files, and {data.source} has none; leave it out")
    if data.source in BUILT_IN or Path(data.source).expanduser().is_dir():
        for name in ("label", "image"):
            if getattr(data, name) is not None:
                raise InputError(f"--{name} names a column of a table, and {data.source} is none; leave it out")


def _check_words(settings: RunConfig) -> None:
    """Refuse unknown names before the data is read, which may take long."""
    from anchored.data import CorruptionPlan, read_corrections
    from anchored.methods import parse
    from anchored.training import pick_device

    if settings.method.name != "auto":
        parse(settings.method.name)
    CorruptionPlan.parse(settings.data.corrupt)
    if settings.data.corrections is not None:
        read_corrections(settings.data.corrections, digest=settings.data.corrections_digest)
    pick_device(settings.train.device)

"""``anchored fit DATA``: train on data with imperfect labels, calibrate, and keep everything as a run."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anchored._errors import InputError
from anchored.cli.output import AsJson

if TYPE_CHECKING:
    from anchored.training import DataConfig, RunConfig

Text = str | None

_DEFAULT_PARENT = Path("runs")


def fit(
    data: Annotated[
        Text,
        typer.Argument(
            help="A built-in name (digits, mnist, fashion-mnist, cifar10, cifar100), a folder of class folders, "
            "or a .csv, .parquet, .npz, .npy or list (.txt) file."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder of the run; by default runs/DATA-METHOD-HASH, where HASH names the settings."),
    ] = None,
    method: Annotated[Text, typer.Option(help="auto, or a name such as ce, ce+fnpal, nce+rce+pal, ldam+drw.")] = None,
    backbone: Annotated[Text, typer.Option(help="auto, or a name such as mlp, cnn4, resnet32, timm:NAME.")] = None,
    epochs: Annotated[int | None, typer.Option(help="How often the data is gone through.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Samples per step, over all processes.")] = None,
    lr: Annotated[float | None, typer.Option(help="The largest learning rate.")] = None,
    noise_rate: Annotated[Text, typer.Option(help="The share of wrong labels, where it is known, or auto.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of everything random; the same seed gives the same run.")] = None,
    config: Annotated[Path | None, typer.Option(help="A YAML file of settings, as the config.yaml of a run.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any setting, path=value; wins over flags, which win over --config."),
    ] = None,
    corrupt: Annotated[
        list[str] | None,
        typer.Option(
            help="Corrupt the training data: symmetric=0.8, asymmetric=0.4, longtail=100, step=10; repeatable."
        ),
    ] = None,
    corrections: Annotated[
        Text, typer.Option(help="Decisions on labels, as anchored review writes them: a corrections.csv.")
    ] = None,
    data_root: Annotated[
        Text, typer.Option(help="Where a built-in set lies, or where image paths in a table or list start.")
    ] = None,
    label: Annotated[Text, typer.Option(help="The label column of a table, or the label file of an .npy.")] = None,
    image: Annotated[Text, typer.Option(help="The column of image paths in a table.")] = None,
    test: Annotated[Text, typer.Option(help="A second source of the same kind to test on.")] = None,
    precision: Annotated[Text, typer.Option(help="32, 64 or bf16.")] = None,
    device: Annotated[Text, typer.Option(help="auto, cpu, cuda …")] = None,
    report: Annotated[bool, typer.Option(help="Write RUN/report.html at the end.")] = True,
    json: AsJson = False,
) -> None:
    """Train a classifier, calibrate it, score it, and report on it."""
    if out is None:
        _check_writable(_DEFAULT_PARENT, name=f"the folder {_DEFAULT_PARENT} for the runs")
    else:
        _check_free(out)

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
        "train": {"epochs": epochs, "batch_size": batch_size, "seed": seed, "precision": precision, "device": device},
    }
    settings = gather(config, flags, set_ or [])
    _check_columns(settings.data)
    _check_words(settings)
    split = open_data(settings.data)
    run = RunFolder.plan(default_path(settings, _DEFAULT_PARENT), unnamed=True) if out is None else RunFolder.plan(out)
    train(split, settings, run, draw=report)
    show(run, json=json)


def _check_free(out: Path) -> None:
    """Refuse at once what would be refused after the data was read; torch is not needed for that."""
    if out.is_dir() and any(out.iterdir()):
        from anchored.runs import RunFolder

        RunFolder.plan(out)
    _check_writable(out, name=f"--out {out}")


def _check_writable(folder: Path, *, name: str) -> None:
    """Whether the folder can be made and filled, tried where it would lie: permissions do not tell of every disk."""
    path = folder.absolute()
    parent = next(place for place in (path, *path.parents) if place.exists())
    if not parent.is_dir():
        raise InputError(f"{name} cannot be made, because {parent} is a file; choose another folder")
    try:
        with TemporaryDirectory(prefix=".anchored-", dir=parent):
            pass
    except OSError as error:
        raise InputError(
            f"{name} cannot be made, because {parent} cannot be written to ({error.strerror}); choose another folder"
        ) from None


def _check_columns(data: DataConfig) -> None:
    """Refuse a column of data that has none: whoever names one means other data."""
    from anchored.data import BUILT_IN

    if data.source in BUILT_IN or Path(data.source).expanduser().is_dir():
        for name in ("label", "image"):
            if getattr(data, name) is not None:
                raise InputError(f"--{name} names a column of a table, and {data.source} is none; leave it out")


def _check_words(settings: RunConfig) -> None:
    """Refuse names that can be judged without the data, which may take long to read."""
    from anchored.data import CorruptionPlan, read_corrections
    from anchored.methods import parse
    from anchored.training import pick_device

    if settings.method.name != "auto":
        parse(settings.method.name)
    CorruptionPlan.parse(settings.data.corrupt)
    if settings.data.corrections is not None:
        read_corrections(settings.data.corrections, digest=settings.data.corrections_digest)
    pick_device(settings.train.device)

"""``anchored embed DATA --out FILE.npz``: photos, texts or rows as vectors, once, for any tool.

The archive holds ``X`` (n, d) float32, ``y`` (the labels by name, if there are any), ``ids``, ``class_names`` and the
name of the ``encoder``; and ``X_test``, ``y_test`` and ``ids_test`` if the source has a test part. ``anchored fit
FILE.npz`` reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anchored._errors import InputError
from anchored._signals import Terminated
from anchored.cli.output import print_json
from anchored.cli.processes import Ended, say

if TYPE_CHECKING:
    from anchored.data import Dataset, TableForm
    from anchored.data.labels import LabelPolicy


def embed(
    data: str,
    out: Annotated[Path, typer.Option()],
    encoder: str = "auto",
    weights: Path | None = None,
    test: str | None = None,
    on: str = "local",
    cache: bool = True,
    data_root: str | None = None,
    label: str | None = None,
    image: str | None = None,
    drop: list[str] | None = None,
    as_: Annotated[list[str] | None, typer.Option("--as")] = None,
    labels: bool = True,
    json: bool = False,
) -> None:
    """Turn photos, texts or rows into vectors and write them to a file.

    Args:
        data: Any source that fit takes.
        out: The file to write: .npz.
        encoder: Name of the encoder: auto, efficientnet-lite0, wordllama, tfidf, wordllama+tfidf, table, timm:NAME,
            hf:NAME or sentence-transformers:NAME.
        weights: A file of weights for the encoder.
        test: Test data, encoded in the same way.
        on: Where to compute: local, or ray, spread over a Ray cluster.
        cache: Keep vectors for the next time.
        data_root: Folder of a built-in set, or where image paths start.
        label: The label column of a table.
        image: The column of image paths in a table.
        drop: Column of a table to leave out; repeatable.
        as_: What a column is, as COLUMN=KIND: number, category, date, date:dmy, date:mdy, text or id; repeatable.
        labels: Whether the data has labels.
        json: Print the result as one JSON object on stdout.
    """
    if out.suffix != ".npz":
        raise InputError(f"--out must end in .npz, got {str(out)!r}")
    if out.is_dir() or not out.absolute().parent.is_dir():
        raise InputError(f"--out must be a file in a folder that exists, got {str(out)!r}")
    if out.exists() and Path(data).exists() and out.samefile(data):
        raise InputError(f"--out {out} is the data itself; name another file")
    if on not in ("local", "ray"):
        raise InputError(f"--on must be local or ray, got {on!r}")

    from anchored.cli.encoding import make_encoding_progress
    from anchored.data import open_source
    from anchored.features import TableEncoder, encode, get, kinds_of, written_uses

    wanted: LabelPolicy = "required" if labels else "ignored"
    told = {"drop": tuple(drop or ()), "kinds": kinds_of(as_ or [])} if drop or as_ else {}
    form: TableForm = "table" if told or encoder == "table" else "auto"
    split = open_source(data, root=data_root, label=label, image=image, test=test, labels=wanted, form=form)
    if told and split.train.kind != "table":
        raise InputError(f"--drop and --as are about the columns of a table, and {data} is none; leave them out")
    made = get(encoder, inputs=split.train.inputs, weights=weights, **told).fit(split.train.inputs)
    if isinstance(made, TableEncoder):
        say(f"what is done with each column:\n{written_uses(made.uses)}")
    parts = {"": split.train} if split.test is None else {"": split.train, "_test": split.test}
    arrays: dict[str, Any] = {}
    with _goes_on(cached=cache):
        for suffix, part in parts.items():
            progress = make_encoding_progress()
            vectors = encode(part, made, cache=cache, progress=progress, on="ray" if on == "ray" else "local")
            arrays |= _arrays(vectors, suffix)
    _write(out, arrays, made.name, split.train.class_names)
    result = {
        "out": str(out),
        "encoder": made.name,
        "n": len(split.train),
        "n_test": None if split.test is None else len(split.test),
        "d": int(arrays["X"].shape[1]),
        "k": split.train.k,
    }
    if json:
        print_json(result)
    else:
        typer.echo(
            f"{result['n']:,} vectors of {result['d']} numbers by {made.name} are in {out}; "
            f"train on them with: anchored fit {out}"
        )


def _arrays(data: Dataset, suffix: str) -> dict[str, Any]:
    import numpy as np
    import torch

    arrays: dict[str, Any] = {
        f"X{suffix}": data.inputs.take(torch.arange(len(data))).numpy(),
        f"ids{suffix}": np.array(list(data.ids), dtype=np.str_),
    }
    if data.labelled and data.k:
        arrays[f"y{suffix}"] = np.array(data.class_names, dtype=np.str_)[data.labels.numpy()]
    return arrays


def _write(out: Path, arrays: dict[str, Any], encoder: str, class_names: tuple[str, ...]) -> None:
    import numpy as np

    from anchored._files import write_atomically

    def write(path: Path) -> None:
        with path.open("wb") as file:  # given a path, numpy would add an ending to it
            np.savez(
                file,
                allow_pickle=False,
                encoder=np.array(encoder),
                class_names=np.array(class_names, dtype=np.str_),
                **arrays,
            )

    write_atomically(out, write)


@contextmanager
def _goes_on(*, cached: bool) -> Iterator[None]:
    """Within, whoever stops the command hears how it goes on."""
    way_out = "what was encoded is in the cache, start it again to go on" if cached else "nothing was written"
    try:
        yield
    except KeyboardInterrupt:
        say(f"interrupted; {way_out}")
        raise Ended(130) from None
    except Terminated as stopped:
        say(f"{stopped}; {way_out}")
        raise Ended(stopped.code) from None

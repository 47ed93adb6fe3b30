"""``anchored corrupt DATA --out FOLDER``: make wrong labels or unbalanced classes on purpose, and write a receipt.

The folder gets ``data.npz``, a source that ``fit`` reads (``X`` and ``y`` for training, ``y_clean``, the ``index`` of
each sample in the original, ``class_names``, for tables ``columns``; ``X_test`` and ``y_test`` if the source has a test
part, which stays clean), and ``receipt.json``, which says what was asked and what was done. Texts and tables with more
than numbers in them come as ``data.csv`` instead, with the right labels apart in ``labels_clean.csv``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anchored._errors import InputError
from anchored.cli.model import check_root
from anchored.cli.output import print_json, print_table

if TYPE_CHECKING:
    from anchored.data import Corrupted, Dataset, Split

ARRAYS, RECEIPT = "data.npz", "receipt.json"
TABLE, CLEAN = "data.csv", "labels_clean.csv"


def corrupt(
    data: str,
    out: Annotated[Path, typer.Option()],
    symmetric: float | None = None,
    asymmetric: float | None = None,
    longtail: float | None = None,
    step: float | None = None,
    seed: int = 0,
    data_root: str | None = None,
    label: str | None = None,
    image: str | None = None,
    json: bool = False,
) -> None:
    """Write a noisy or unbalanced copy of a data set.

    Args:
        data: Data to copy: any source that fit takes.
        out: Folder to write; it must be new or empty.
        symmetric: Share of labels to replace by any other class.
        asymmetric: Share of labels to replace by a similar class.
        longtail: Size of the largest class over that of the smallest; the sizes fall exponentially.
        step: Size of the largest class over that of the smallest; half of the classes are large, half are small.
        seed: Seed of the random choices.
        data_root: Folder of a built-in data set, or the folder that image paths start from.
        label: Label column of a table.
        image: Column of image paths in a table.
        json: Print the result as one JSON object on stdout.
    """
    kinds = {"longtail": longtail, "step": step, "symmetric": symmetric, "asymmetric": asymmetric}
    asked = [f"{kind}={amount!r}" for kind, amount in kinds.items() if amount is not None]
    if not asked:
        raise InputError("nothing to do: give --symmetric, --asymmetric, --longtail or --step")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"--out must be a new or empty folder, got {str(out)!r}; choose another")
    if not out.absolute().parent.is_dir():
        raise InputError(f"--out must lie in an existing folder, got {str(out)!r}; create {str(out.parent)!r} first")
    if seed < 0:
        raise InputError(f"--seed must be at least 0, got {seed}")

    check_root(data, data_root)

    from anchored.data import CorruptionPlan, open_source
    from anchored.data import corrupt as corrupt_data

    plan = CorruptionPlan.parse(asked)
    split = open_source(data, root=data_root, label=label, image=image)
    corrupted = corrupt_data(split.train, plan, seed=seed)
    receipt = {"data": data, "seed": seed, "asked": asked, **corrupted.receipt}
    if corrupted.dataset.kind in ("texts", "table"):
        written = _write_table(out, corrupted, receipt, label or "label")
    else:
        written = _write(out, split, corrupted, receipt)
    result = {**receipt, "n": len(corrupted.dataset), "out": str(out)}
    if json:
        print_json(result)
        return
    rows = [["samples", len(corrupted.dataset), len(split.train)]]
    counts, before = corrupted.dataset.counts.tolist(), split.train.counts.tolist()
    rows += [["largest class", max(counts), max(before)], ["smallest class", min(counts), min(before)]]
    wrong = corrupted.receipt.get("noise", {}).get("flipped", 0)
    rows.append(["wrong labels", wrong, "-"])
    print_table(
        " and ".join(asked),
        [data, "now", "before"],
        rows,
        f"written to {out / written}; train on it with: anchored fit {out / written}",
    )


def _write(out: Path, split: Split, corrupted: Corrupted, receipt: dict[str, Any]) -> str:
    """Write arrays; returns the name of the file that ``fit`` reads."""
    import numpy as np

    dataset = corrupted.dataset
    clean = dataset.labels if dataset.clean_labels is None else dataset.clean_labels
    names = np.array(dataset.class_names)
    arrays: dict[str, Any] = {
        "X": _inputs(dataset),
        "y": names[dataset.labels.numpy()],
        "y_clean": names[clean.numpy()],
        "index": _index(corrupted),
        "class_names": names,
    }
    if dataset.columns is not None:
        arrays["columns"] = np.array(dataset.columns)
    if split.test is not None:
        arrays |= {"X_test": _inputs(split.test), "y_test": names[split.test.labels.numpy()]}

    def write(folder: Path) -> None:
        np.savez_compressed(folder / ARRAYS, allow_pickle=False, **arrays)

    _write_folder(out, write, receipt)
    return ARRAYS


def _write_table(out: Path, corrupted: Corrupted, receipt: dict[str, Any], label: str) -> str:
    """Write a table with its cells as they are, and the right labels beside; returns the name that ``fit`` reads."""
    import csv

    from anchored.data import TableInputs, TextInputs

    dataset = corrupted.dataset
    inputs, names = dataset.inputs, dataset.class_names
    columns: dict[str, Any] = {"text": inputs.texts} if isinstance(inputs, TextInputs) else {}
    if isinstance(inputs, TableInputs):
        columns = {name: column.cells() for name, column in inputs.columns.items()}
    if label in columns:
        raise InputError(f"the label column {label!r} would stand twice in the copy; name it with --label")
    clean = dataset.labels if dataset.clean_labels is None else dataset.clean_labels
    given = [names[i] for i in dataset.labels.tolist()]
    right = [names[i] for i in clean.tolist()]

    def write(folder: Path) -> None:
        with (folder / TABLE).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*columns, label])
            writer.writerows(zip(*columns.values(), given, strict=True))
        with (folder / CLEAN).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["index", label])
            writer.writerows(zip(_index(corrupted).tolist(), right, strict=True))

    _write_folder(out, write, receipt)
    return TABLE


def _write_folder(out: Path, write: Callable[[Path], None], receipt: dict[str, Any]) -> None:
    """Write the folder with all its files in it, or nothing."""
    from anchored._files import temporary_folder, write_json

    with temporary_folder(out) as temporary:
        made = temporary / out.name
        made.mkdir()
        write(made)
        write_json(made / RECEIPT, receipt)
        if out.exists():
            out.rmdir()
        made.replace(out)


def _index(corrupted: Corrupted) -> Any:  # noqa: ANN401 - numpy is not imported for its type alone
    """The place of each sample in the original."""
    import numpy as np

    return np.arange(len(corrupted.dataset)) if corrupted.kept is None else corrupted.kept.numpy()


def _inputs(dataset: Dataset) -> Any:  # noqa: ANN401 - numpy is not imported for its type alone
    import torch

    return dataset.inputs.take(torch.arange(len(dataset))).numpy()

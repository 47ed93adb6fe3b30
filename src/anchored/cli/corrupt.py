"""``anchored corrupt DATA --out FOLDER``: make wrong labels or unbalanced classes on purpose, and write a receipt.

The folder gets ``data.npz``, a source that ``fit`` reads (``X`` and ``y`` for training, ``y_clean``, the ``index`` of
each sample in the original, ``class_names``, for tables ``columns``; ``X_test`` and ``y_test`` if the source has a test
part, which stays clean), and ``receipt.json``, which says what was asked and what was done.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anchored._errors import InputError
from anchored.cli.model import check_root
from anchored.cli.output import print_json, print_table

if TYPE_CHECKING:
    from anchored.data import Corrupted, Dataset, Split

ARRAYS, RECEIPT = "data.npz", "receipt.json"


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
    _write(out, split, corrupted, receipt)
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
        f"written to {out / ARRAYS}; train on it with: anchored fit {out / ARRAYS}",
    )


def _write(out: Path, split: Split, corrupted: Corrupted, receipt: dict[str, Any]) -> None:
    """Write the folder with both files in it, or nothing."""
    import numpy as np

    from anchored._files import temporary_folder, write_json

    dataset = corrupted.dataset
    clean = dataset.labels if dataset.clean_labels is None else dataset.clean_labels
    names = np.array(dataset.class_names)
    arrays: dict[str, Any] = {
        "X": _inputs(dataset),
        "y": names[dataset.labels.numpy()],
        "y_clean": names[clean.numpy()],
        "index": np.arange(len(dataset)) if corrupted.kept is None else corrupted.kept.numpy(),
        "class_names": names,
    }
    if dataset.columns is not None:
        arrays["columns"] = np.array(dataset.columns)
    if split.test is not None:
        arrays |= {"X_test": _inputs(split.test), "y_test": names[split.test.labels.numpy()]}
    with temporary_folder(out) as temporary:
        made = temporary / out.name
        made.mkdir()
        np.savez_compressed(made / ARRAYS, allow_pickle=False, **arrays)
        write_json(made / RECEIPT, receipt)
        if out.exists():
            out.rmdir()
        made.replace(out)


def _inputs(dataset: Dataset) -> Any:  # noqa: ANN401 - numpy is not imported for its type alone
    import torch

    return dataset.inputs.take(torch.arange(len(dataset))).numpy()

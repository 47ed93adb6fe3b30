"""``anchored predict RUN DATA --out FILE.csv``: a label, how sure it is, and whether to trust it, row by row.

``probability`` is the calibrated one of the label; ``margin`` is how far the label's calibrated logit lies above the
next one's, the logarithm of how much likelier it is; ``abstain`` says that the probability is below
``--min-confidence``. A file that cannot be read is named in its row under ``error``, and the others go on.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anchored._errors import InputError
from anchored.cli.output import AsJson, print_json, print_table

if TYPE_CHECKING:
    from torch import Tensor

    from anchored.data import Dataset, Inputs
    from anchored.training import TrainedModel

_BATCH = 512
_THREADS = 4
COLUMNS = ("id", "label", "probability", "margin", "abstain", "error")


def predict(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run.")],
    data: Annotated[str, typer.Argument(help="What to predict: any source that fit takes; a flat folder will do.")],
    out: Annotated[Path, typer.Option(help="The CSV file to write.")],
    min_confidence: Annotated[float, typer.Option(help="Abstain below this calibrated probability.")] = 0.0,
    data_root: Annotated[str | None, typer.Option(help="Where a built-in set lies, or image paths start.")] = None,
    image: Annotated[str | None, typer.Option(help="The column of image paths in a table.")] = None,
    part: Annotated[str | None, typer.Option(help="train or test, of a source with both; test by default.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda …")] = "auto",
    json: AsJson = False,
) -> None:
    """Label new data with a trained model."""
    if not 0.0 <= min_confidence <= 1.0:
        raise InputError(f"--min-confidence must lie in [0, 1], got {min_confidence}; it is a probability")
    if out.is_dir() or not out.parent.is_dir():
        raise InputError(f"--out must be a file in a folder that exists, got {str(out)!r}")
    if out.exists() and Path(data).exists() and out.samefile(data):
        raise InputError(f"--out {out} is the data itself; name another file")

    from anchored._files import write_atomically
    from anchored.cli.model import load_run
    from anchored.cli.processes import tell

    loaded = load_run(run, device=device)
    dataset = loaded.open(data, labels="ignored", root=data_root, image=image, part=part, stream=True)
    seen: Counter[str] = Counter()
    abstained = broken = 0

    def write(path: Path) -> None:
        nonlocal abstained, broken
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            for row in rows(loaded.model, dataset, min_confidence):
                writer.writerow(row)
                if row["error"]:
                    broken += 1
                    tell(row["error"])
                else:
                    seen[row["label"]] += 1
                    abstained += row["abstain"] == "true"

    write_atomically(out, write)
    if json:
        print_json(
            {
                "run": str(run),
                "data": data,
                "out": str(out),
                "n": len(dataset),
                "labels": {name: seen[name] for name in loaded.model.class_names},
                "abstained": abstained,
                "broken": broken,
            }
        )
        return
    table = [[name, seen[name]] for name in loaded.model.class_names if seen[name]]
    note = f"{len(dataset)} rows, {abstained} abstained, {broken} could not be read; written to {out}"
    print_table(f"predicted by {run}", ["label", "rows"], table, note)


def rows(model: TrainedModel, dataset: Dataset, min_confidence: float) -> Iterator[dict[str, str]]:
    """The rows of the file, made batch by batch, so that memory does not grow with the data."""
    import torch

    for index in torch.split(torch.arange(len(dataset)), _BATCH):
        inputs, errors = _take(dataset.inputs, index)
        with torch.inference_mode():
            logits = model(inputs).double().cpu() if len(inputs) else torch.empty(0, len(model.class_names))
        top = logits.topk(2, dim=1) if len(inputs) else None
        likely = logits.softmax(dim=1).amax(dim=1) if len(inputs) else None
        row = 0
        for i in index.tolist():
            if i in errors or top is None or likely is None:
                yield dict.fromkeys(COLUMNS, "") | {"id": dataset.ids[i], "abstain": "true", "error": errors[i]}
                continue
            probability = float(likely[row])
            yield {
                "id": dataset.ids[i],
                "label": model.class_names[int(top.indices[row, 0])],
                "probability": f"{probability:.6f}",
                "margin": f"{float(top.values[row, 0] - top.values[row, 1]):.6f}",
                "abstain": "true" if probability < min_confidence else "false",
                "error": "",
            }
            row += 1


def _take(inputs: Inputs, index: Tensor) -> tuple[Tensor, dict[int, str]]:
    """The inputs at ``index`` that can be read, and why the others cannot."""
    from concurrent.futures import ThreadPoolExecutor

    import torch

    if not hasattr(inputs, "paths"):
        return inputs.take(index), {}

    def one(i: Tensor) -> Tensor | str:
        try:
            return inputs.take(i)
        except InputError as error:
            return str(error)

    with ThreadPoolExecutor(_THREADS) as pool:  # decoding an image leaves Python to the other threads
        read = list(pool.map(one, index[:, None]))
    errors = {int(i): each for i, each in zip(index, read, strict=True) if isinstance(each, str)}
    good = [each for each in read if not isinstance(each, str)]
    return torch.cat(good) if good else torch.empty(0), errors

"""``anchored evaluate RUN DATA``: accuracy overall and by class, and calibration, of a model on labelled data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anchored.cli.aggregation import aggregate_for
from anchored.cli.output import print_json, print_table, score_rows
from anchored.cli.prior import with_prior

_SHOWN = 30


def evaluate(
    run: Path,
    data: str,
    data_root: str | None = None,
    label: str | None = None,
    image: str | None = None,
    part: str | None = None,
    prior: str | None = None,
    aggregate: bool = False,
    device: str = "auto",
    json: bool = False,
) -> None:
    """Score a trained model on labelled data.

    Args:
        run: Folder of a finished run.
        data: Labelled data: any source that fit takes.
        data_root: Folder of a built-in data set, or the folder that image paths start from.
        label: Label column; by default the one of training.
        image: Column of image paths in a table.
        part: Part of the data: train or test; test by default if it has both.
        prior: Frequencies of the classes in use: numbers a,b,c in their order, or a file of names and numbers.
        aggregate: First weight the experts of a tade model for this data, by its images alone.
        device: Device to compute on: auto, cpu, cuda …
        json: Print the result as one JSON object on stdout.
    """
    from anchored.cli.model import load_run
    from anchored.metrics import cosine_margins, scores
    from anchored.training import Runtime, ask, evaluation_batches, weight_of

    loaded = load_run(run, device=device)
    model = with_prior(loaded.model, prior)
    dataset = loaded.open(data, labels="required", root=data_root, label=label, image=image, part=part)
    weighted = {"expert_weights": aggregate_for(loaded, model, dataset)} if aggregate else {}
    weight = weight_of(model)
    runtime = Runtime(weight.device, "64" if weight.dtype.itemsize == 8 else "32")
    batches = evaluation_batches(dataset, model.normalization, runtime, workers=loaded.config.train.workers)
    logits, features = ask(model.classifier, batches, runtime, features=True)
    counts = model.description.get("training_counts")
    result: dict[str, Any] = {"run": str(run), "data": data, "class_names": list(model.class_names), **weighted}
    if model.log_prior is not None:
        logits = logits + model.temperature * model.log_prior.to(logits)
    result |= scores(logits, dataset.labels, temperature=model.temperature, counts=counts)
    if model.prior is not None:
        result["prior"] = list(model.prior)
    directions = model.classifier.rows()
    if directions is not None and features is not None:
        result |= cosine_margins(features, directions.detach().cpu(), dataset.labels)
    if json:
        print_json(result)
        return
    _print(result, counts)


def _print(result: dict[str, Any], counts: list[int] | None) -> None:
    rows = score_rows([result])
    if "expert_weights" in result:
        rows.append(["weights of the experts", " ".join(f"{share:.2f}" for share in result["expert_weights"])])
    print_table(f"{result['run']} on {result['data']}, {result['n']} samples", ["", "value"], rows)
    trained = [None] * len(result["class_names"]) if counts is None else counts
    classes = list(zip(result["class_names"], result["per_class"], trained, strict=True))
    if len(classes) > _SHOWN:
        classes = sorted(classes, key=lambda each: 2.0 if each[1] is None else each[1])[:_SHOWN]
    print_table(
        "by class" if len(classes) == len(result["class_names"]) else f"the {_SHOWN} worst classes",
        ["class", "right answers (%)", "training samples"],
        [[name, "-" if right is None else f"{100 * right:.2f}", "-" if n is None else n] for name, right, n in classes],
    )

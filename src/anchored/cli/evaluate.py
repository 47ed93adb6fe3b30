"""``anchored evaluate RUN DATA``: how right, how fair and how honest a trained model is on labelled data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from anchored.cli.aggregation import Aggregate, aggregate_for
from anchored.cli.output import AsJson, print_json, print_table
from anchored.cli.prior import Prior, with_prior

_SHOWN = 30


def evaluate(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run.")],
    data: Annotated[str, typer.Argument(help="Labelled data: any source that fit takes.")],
    data_root: Annotated[str | None, typer.Option(help="Where a built-in set lies, or image paths start.")] = None,
    label: Annotated[str | None, typer.Option(help="The label column; by default that of training.")] = None,
    image: Annotated[str | None, typer.Option(help="The column of image paths in a table.")] = None,
    part: Annotated[str | None, typer.Option(help="train or test, of a source with both; test by default.")] = None,
    prior: Prior = None,
    aggregate: Aggregate = False,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda …")] = "auto",
    json: AsJson = False,
) -> None:
    """Score a trained model on labelled data."""
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
    rows = [
        [title, "-" if result.get(name) is None else f"{factor * result[name]:.{digits}f}"]
        for title, name, factor, digits in (
            ("accuracy (%)", "accuracy", 100, 2),
            ("many classes (%)", "many", 100, 2),
            ("medium classes (%)", "medium", 100, 2),
            ("few classes (%)", "few", 100, 2),
            ("ECE (%)", "ece", 100, 2),
            ("ECE before calibration (%)", "ece_uncalibrated", 100, 2),
            ("NLL", "nll", 1, 4),
            ("smallest margin gamma_min", "gamma_min", 1, 3),
        )
    ]
    if "expert_weights" in result:
        rows.append(["weights of the experts", " ".join(f"{share:.2f}" for share in result["expert_weights"])])
    print_table(f"{result['run']} on {result['data']}, {result['n']} samples", ["", "value"], rows)
    trained = [None] * len(result["class_names"]) if counts is None else counts
    classes = list(zip(result["class_names"], result["per_class"], trained, strict=True))
    if len(classes) > _SHOWN:
        classes = sorted(classes, key=lambda each: 2.0 if each[1] is None else each[1])[:_SHOWN]
    print_table(
        "by class" if len(classes) == len(result["class_names"]) else f"the {_SHOWN} worst classes",
        ["class", "accuracy (%)", "training samples"],
        [[name, "-" if right is None else f"{100 * right:.2f}", "-" if n is None else n] for name, right, n in classes],
    )

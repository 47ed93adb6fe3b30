"""What ``fit`` and ``resume`` have in common: train with progress on stderr, draw the report, show the result."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import TYPE_CHECKING, Any

from anchored._progress import is_main_process
from anchored.cli.output import print_json, print_table
from anchored.cli.processes import resumable, tell

if TYPE_CHECKING:
    from anchored.data import Split
    from anchored.runs import RunFolder
    from anchored.training import RunConfig

__all__ = ["show", "summary", "train"]

_PARTS = {"held_out": "held-out labels", "estimated": "wrong labels allowed for", "test": "test"}


def train(split: Split, settings: RunConfig, run: RunFolder, *, draw: bool = False) -> None:
    """Do the run, or go on with it, and complete what is missing of a finished one.

    Args:
        split: The data; what a careful reader would want to know of it is told first.
        settings: The settings as asked, or the configuration of a started run.
        run: Where the run is kept.
        draw: Whether to write the report at the end.
    """
    from anchored.cli.progress import make_progress
    from anchored.cli.report import write_after_training
    from anchored.runs import fit

    for part in (split.train, split.test):
        for note in () if part is None else part.notes:
            tell(f"{part.name}: {note}" if part is not None else note)
    with resumable(run), run.owned():
        fitted = fit(split, settings, folder=run, progress=make_progress())
        if draw and is_main_process():
            write_after_training(run.path, fitted)


def summary(run: RunFolder) -> dict[str, Any]:
    """What ``result.json`` holds, where it and the report lie, and how fast it was made."""
    speeds = [line["samples_per_second"] for line in run.read_lines("speed.jsonl") if line.get("samples_per_second")]
    drawn = run.path / "report.html"
    return {
        **run.read_result(),
        "samples_per_second": median(speeds) if speeds else None,
        "run": str(run.path),
        **({"report": str(drawn)} if drawn.is_file() else {}),
    }


def show(run: RunFolder, *, json: bool) -> None:
    """Print the result of a finished run, from the first process only."""
    if not is_main_process():
        return
    result = summary(run)
    if json:
        print_json(result)
        return
    parts = {name: result[name] for name in _PARTS if name in result}
    measures = (
        ("accuracy (%)", "accuracy", 100.0, ".2f"),
        ("many classes (%)", "many", 100.0, ".2f"),
        ("medium classes (%)", "medium", 100.0, ".2f"),
        ("few classes (%)", "few", 100.0, ".2f"),
        ("ECE before calibration (%)", "ece_uncalibrated", 100.0, ".2f"),
        ("ECE after calibration (%)", "ece", 100.0, ".2f"),
        ("smallest margin gamma_min", "gamma_min", 1.0, ".3f"),
    )
    rows = [
        [title, *(_number(part.get(name), factor, form) for part in parts.values())]
        for title, name, factor, form in measures
        if any(part.get(name) is not None for part in parts.values())
    ]
    speed = result["samples_per_second"]
    rows += [
        ["temperature", f"{result['temperature']:.3f}", *[""] * (len(parts) - 1)],
        ["epochs", _epochs(result), *[""] * (len(parts) - 1)],
        ["samples per second", "-" if speed is None else f"{speed:,.0f}", *[""] * (len(parts) - 1)],
    ]
    columns = ["", *(_PARTS[name] for name in parts)] if parts else ["", "value"]
    source = run.read_config().data.source
    places = [f"the {name} is in {result[name]}" for name in ("run", "report") if name in result]
    print_table(f"{result['method']} on {source}", columns, rows, "\n".join(places))


def _epochs(result: Mapping[str, Any]) -> str:
    done, kept = result["epochs"], result.get("kept_epoch", result["epochs"])
    return str(done) if kept == done else f"{done}, kept: {kept}"


def _number(value: float | None, factor: float, form: str) -> str:
    return "-" if value is None else format(value * factor, form)

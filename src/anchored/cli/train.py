"""What ``fit`` and ``resume`` share: train with progress on stderr, write the report, show the result."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import TYPE_CHECKING, Any

from anchored._progress import is_main_process, telling
from anchored.cli.output import print_json, print_table, score_rows
from anchored.cli.processes import resumable, tell

if TYPE_CHECKING:
    from anchored.data import Split
    from anchored.runs import Fitted, RunFolder
    from anchored.training import RunConfig

__all__ = ["show", "summary", "train"]

_PARTS = {"held_out": "held-out labels", "estimated": "wrong labels allowed for", "test": "test"}


def train(split: Split, settings: RunConfig, run: RunFolder, *, draw: bool = False) -> None:
    """Do the run, or go on with it, with progress on stderr.

    Args:
        split: The data; its notes are printed first.
        settings: The settings as asked, or the configuration of a started run.
        run: Folder of the run.
        draw: Whether to write the report at the end.

    Raises:
        InputError: The data or a setting cannot be used.
        Ended: Training was stopped from outside; the message has been printed.
    """
    from anchored.cli.progress import make_progress
    from anchored.runs import fit

    for part in (split.train, split.test):
        if part is not None:
            for note in part.notes:
                tell(f"{part.name}: {note}")
    with telling(tell), resumable(run), run.owned():
        fitted = fit(
            split, settings, folder=run, progress=make_progress(), usable=lambda first: _draw(run, first, draw)
        )
        _draw(run, fitted, draw)


def _draw(run: RunFolder, fitted: Fitted, draw: bool) -> None:
    from anchored.cli.report import write_after_training

    if draw and is_main_process():
        write_after_training(run.path, fitted)


def summary(run: RunFolder) -> dict[str, Any]:
    """Collect what ``result.json`` holds, the paths of the run and its report, and the speed of training."""
    speeds = [line["samples_per_second"] for line in run.read_lines("speed.jsonl") if line.get("samples_per_second")]
    drawn = run.path / "report.html"
    return {
        **run.read_result(),
        "samples_per_second": median(speeds) if speeds else None,
        "run": str(run.path),
        **({"report": str(drawn)} if drawn.is_file() else {}),
    }


def show(run: RunFolder, *, json: bool) -> None:
    """Print the result of a finished run, from the first process only.

    Args:
        run: Folder of the run.
        json: Whether to print one JSON object instead of a table.
    """
    if not is_main_process():
        return
    result = summary(run)
    if json:
        print_json(result)
        return
    parts = {name: result[name] for name in _PARTS if name in result}
    rows = score_rows(list(parts.values()))
    speed = result["samples_per_second"]
    rows += [
        ["passes over the data, epochs", _epochs(result), *[""] * (len(parts) - 1)],
        ["temperature of its probabilities", f"{result['temperature']:.3f}", *[""] * (len(parts) - 1)],
        ["threads, on which the last digits depend", _shown(result.get("threads")), *[""] * (len(parts) - 1)],
        ["samples per second", "-" if speed is None else f"{speed:,.0f}", *[""] * (len(parts) - 1)],
    ]
    columns = ["", *(_PARTS[name] for name in parts)] if parts else ["", "value"]
    source = run.read_config().data.source
    never = ", ".join(map(repr, result.get("never_predicted") or ()))
    if never:
        tell(f"warning: it never predicts {never}: more samples of it, or fewer wrong labels, may help")
    places = [f"the {name} is in {result[name]}" for name in ("run", "report") if name in result]
    print_table(f"trained on {source} by the method {result['method']}", columns, rows, "\n".join(places))


def _shown(value: object) -> str:
    return "-" if value is None else str(value)


def _epochs(result: Mapping[str, Any]) -> str:
    done, kept = result["epochs"], result.get("kept_epoch", result["epochs"])
    return str(done) if kept == done else f"{done}, kept: {kept}"

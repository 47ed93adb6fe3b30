"""The record of every finished run, kept with the project: ``results/TABLE.jsonl``, one line per run.

A record says what was run (row, cell, seed, settings), with which versions, how long it took, and the results: the
numbers after the last epoch, also class by class, the best epoch, and the accuracy of every epoch that was scored.
Lines are sorted, so that the records of two people merge; the file is replaced as a whole while the folder is locked,
so that two runners never damage it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from anchored._errors import InputError
from anchored._files import write_text
from anchored._lock import locked_folder
from anchored.paper.store import Store
from anchored.paper.table import RECIPE_PRECISION, Job

__all__ = ["Record", "Results", "evaluate_every_of", "named_for", "precision_of", "record_of"]

Record = dict[str, Any]

_MEASURES = ("accuracy", "many", "medium", "few", "ece", "ece_uncalibrated", "nll", "gamma_min", "gamma_mean")
_CURVES = ("train_loss", "train_accuracy", "test_accuracy")
_NEEDED = {"table", "cell", "row", "seed", "epochs", "shortened", "key", "last", "history"}


class Results:
    """A folder of records.

    Args:
        path: The folder; :meth:`make` makes it.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def read(self, table: str) -> list[Record]:
        """Read the records of ``table``, in the order of the file.

        Raises:
            InputError: If a line is no record.
        """
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{self.path} is a file; --results takes the folder of the records")
        path = self._file(table)
        if not path.is_file():
            return []
        records: list[Record] = []
        for row, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            try:
                record = json.loads(line)
            except ValueError:
                record = None
            if not isinstance(record, dict) or not record.keys() >= _NEEDED:
                raise InputError(f"{path}, row {row}: not a record; restore the file, or remove the line")
            records.append(record)
        return records

    def by_key(self) -> dict[str, Record]:
        """Read one record for every run that is kept here, whichever table it was made for; by key."""
        tables = sorted(path.stem for path in self.path.glob("*.jsonl"))
        return {record["key"]: record for table in tables for record in self.read(table)}

    def make(self) -> None:
        """Make the folder if it is missing.

        Raises:
            InputError: If no record can be written to it.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot create {self.path}: {error.strerror}; choose another --results") from None
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise InputError(f"cannot write to {self.path}: Permission denied; choose another --results")

    def add(self, *records: Record) -> int:
        """Keep ``records``, each in place of an older one of the same run; return how many are new or changed."""
        if not records:
            return 0
        self.make()
        changed = 0
        with locked_folder(self.path):
            for table in dict.fromkeys(record["table"] for record in records):
                before = self.read(table)
                new = [record for record in records if record["table"] == table and record not in before]
                if new:
                    kept = {_identity(record): record for record in (*before, *new)}
                    write_text(self._file(table), "".join(_line(kept[each]) for each in sorted(kept)))
                changed += len(new)
        return changed

    def _file(self, table: str) -> Path:
        return self.path / f"{table}.jsonl"


def record_of(job: Job, store: Store) -> Record:
    """Read the record of a finished job from its run folder.

    Args:
        job: A finished job.
        store: The store that holds its run.

    Returns:
        Plain values, ready for JSON.

    Raises:
        InputError: If the run folder is damaged.
    """
    run = store.run(job)
    result = run.read_result()
    history = run.read_lines("history.jsonl")
    best = result.get("history_best") or {}
    return {
        **named_for(job),
        "last": {name: _short(value) for name, value in _last(result).items() if value is not None},
        "per_class": [_short(value) for value in (result.get("test") or {}).get("per_class", ())],
        "best": _best(job, best),
        "history": {
            name: [_short(line.get(name)) for line in history]
            for name in _CURVES
            if history and _has_curve(name, history, job)
        },
        "seconds": round(sum(line["seconds"] for line in run.read_lines("speed.jsonl")), 1),
        "samples": result["samples"],
        "temperature": _short(result["temperature"]),
        "noise": result.get("corruption", {}).get("noise"),
        "versions": result["versions"],
        "settings": job.settings,
    }


def named_for(job: Job) -> Record:
    """Return the part of a record that names its row and cell; all else is the same for every table that shares it."""
    return {
        "table": job.table,
        "cell": job.cell,
        "row": job.row,
        "seed": job.seed,
        "epochs": job.epochs,
        "shortened": job.shortened,
        "precision": job.precision,
        "key": job.key,
        # Said only then, so that records made before the setting existed stay as they are.
        **({"evaluate_every": job.evaluate_every} if job.evaluate_every > 1 else {}),
    }


def evaluate_every_of(record: Record) -> int:
    """Return how many epochs lay between two scores of the test set; 1 if the record does not say it."""
    return int(record.get("evaluate_every", 1))


def _best(job: Job, best: dict[str, Any]) -> dict[str, Any]:
    """The best epoch; of a run whose test set was not scored after every epoch, the best of those that were."""
    if not best:
        return {}
    of = {"of": f"every {job.evaluate_every} epochs and the last"} if job.evaluate_every > 1 else {}
    return {"epoch": best.get("epoch"), "accuracy": _short(best.get("test_accuracy")), **of}


def _has_curve(name: str, history: list[dict[str, Any]], job: Job) -> bool:
    """Whether every epoch has a value; the test accuracy may have gaps if the test set is scored now and then."""
    there = [line.get(name) is not None for line in history]
    return any(there) if name == "test_accuracy" and job.evaluate_every > 1 else all(there)


def precision_of(record: Record) -> str:
    """Return the precision of the run: single if the record, one of the first, does not say it."""
    return str(record.get("precision", RECIPE_PRECISION))


def _last(result: dict[str, Any]) -> dict[str, float | None]:
    """The measures of the finished run: on the test set, and of the labels if they were judged."""
    test = result.get("test", {})
    measures = {name: test.get(name) for name in _MEASURES}
    if "auto" in result:
        noise = result.get("corruption", {}).get("noise") or {"rate": 0.0}
        measures |= {"noise_drawn": noise["rate"], "noise_estimated": result["auto"]["noise_rate"]}
    return measures


def _identity(record: Record) -> tuple[str, str, int, int, str, str, int]:
    place = (record["cell"], record["row"], record["seed"], record["epochs"], record["table"])
    return *place, precision_of(record), evaluate_every_of(record)


def _line(record: Record) -> str:
    return json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def _short(value: float | None) -> float | None:
    """Six digits are more than a test set of 10,000 can tell, and keep the lines short."""
    return None if value is None else float(f"{value:.6g}")

"""One job from start to end, in whichever process an engine puts it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from anchored._errors import InputError
from anchored._memory import keep_freed_memory
from anchored.data import BUILT_IN
from anchored.paper.first_stage import borrow
from anchored.paper.store import Store
from anchored.paper.table import Job
from anchored.runs import fit, open_data
from anchored.training import Progress, merge, validate

__all__ = ["Outcome", "Place", "check_data", "located", "work"]


@dataclass(frozen=True)
class Place:
    """Where a job is done: what decides nothing about its result.

    Attributes:
        store: The folder of the runs.
        data_root: Where the data lies.
        threads: Threads of the process that does it. Sums are ordered by threads, so this can move the last bits.
        device: ``auto``, ``cpu``, ``cuda`` ...
    """

    store: str
    data_root: str | None = None
    threads: int = 1
    device: str = "auto"


@dataclass(frozen=True)
class Outcome:
    """How a job ended.

    Attributes:
        status: ``finished``; ``busy`` when another process has it in hand; ``failed`` when trying again would not help;
            ``lost`` when its process ended without a word.
        message: Why, in one line.
    """

    status: Literal["finished", "busy", "failed", "lost"]
    message: str = ""


def work(job: Job, place: Place, progress: Progress | None = None) -> Outcome:
    """Do ``job``, or go on with it; a finished one is left as it is.

    Never raises for what is wrong with the job: the outcome says it, so that the other jobs go on.
    """
    import torch

    keep_freed_memory()
    store = Store(place.store)
    if torch.get_num_threads() != place.threads:
        torch.set_num_threads(place.threads)
    try:
        with store.lock(job) as lock:
            if store.run(job).finished:
                return Outcome("finished")
            if not lock.held:
                return Outcome("busy", lock.said())
            _do(job, place, store, progress)
    except Exception as error:  # whatever it is, it belongs to this job alone
        return Outcome("failed", _line(error))
    return Outcome("finished")


def _do(job: Job, place: Place, store: Store, progress: Progress | None) -> None:
    run = store.run(job)
    # What was decided when the run began stays decided.
    settings = located(job, place, run.read_settings().model_dump(exclude_unset=True) if run.started else None)
    split = open_data(validate(settings).data)
    folder = run if run.started or borrow(job, store) else run.path
    fit(split, settings, folder=folder, progress=progress)


def located(job: Job, place: Place, settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The settings of ``job``, or what became of them, with the data where it lies on this machine.

    Example:
        >>> from anchored.paper import TABLES
        >>> job = TABLES["noise_symmetric"].job("ce", "mnist/0.8", seed=0)
        >>> located(job, Place("store", data_root="/data"))["data"]["root"]
        '/data'
    """
    data: dict[str, Any] = {}
    if place.data_root is not None:
        root = os.path.abspath(os.path.expanduser(place.data_root))
        data["root"] = root
        for name in ("source", "test"):
            written = job.settings["data"].get(name)
            if written and written not in BUILT_IN:
                data[name] = str(Path(root) / written)
    return merge(job.settings if settings is None else settings, {"data": data, "train": {"device": place.device}})


def check_data(jobs: Sequence[Job], place: Place) -> None:
    """Open every data set that ``jobs`` need, so that a missing one is told at once and not after an hour."""
    seen: set[str] = set()
    for job in jobs:
        settings = located(job, place)
        data = settings["data"]
        name = json.dumps({part: data.get(part) for part in ("source", "root", "test", "below_label")})
        if name not in seen:
            seen.add(name)
            open_data(validate(settings).data)


def _line(error: Exception) -> str:
    said = " ".join(str(error).split()) or type(error).__name__
    return said if isinstance(error, InputError) else f"{type(error).__name__}: {said}"

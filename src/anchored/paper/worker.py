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

__all__ = ["Outcome", "Placement", "check_data", "located", "run_job"]


@dataclass(frozen=True)
class Placement:
    """Folders, threads and device of a job: everything that does not decide its result.

    Attributes:
        store: The folder of the runs.
        data_root: The folder of the data sets, or None if no data set needs one.
        threads: Threads of the process that runs the job. They decide the order of sums, so the last bits may move.
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
        status: ``finished``; ``busy`` if another process is running the job; ``failed`` if trying again would not help;
            ``lost`` if its process ended without a word.
        message: The reason, in one line.
    """

    status: Literal["finished", "busy", "failed", "lost"]
    message: str = ""


def run_job(job: Job, placement: Placement, progress: Progress | None = None) -> Outcome:
    """Run ``job``, or resume it; a finished one stays as it is.

    Nothing that is wrong with the job is raised: the outcome says it, so that the other jobs go on.

    Args:
        job: The run to make.
        placement: Folders, threads and device.
        progress: Receives the epochs and steps of the training.

    Returns:
        How the job ended, with the reason if it did not finish.

    Example:
        >>> import tempfile
        >>> from anchored.paper import TABLES
        >>> job = TABLES["noise_symmetric"].job("ce", "mnist/0.8", seed=0)
        >>> elsewhere = Placement(tempfile.mkdtemp(), data_root="/nowhere")
        >>> Store(elsewhere.store).make()
        >>> run_job(job, elsewhere).status                                    # there is no MNIST in /nowhere
        'failed'
    """
    import torch

    keep_freed_memory()
    store = Store(placement.store)
    if torch.get_num_threads() != placement.threads:
        torch.set_num_threads(placement.threads)
    try:
        with store.lock(job) as lock:
            if store.run(job).finished:
                return Outcome("finished")
            if not lock.held:
                return Outcome("busy", lock.describe_owner())
            _train(job, placement, store, progress)
    except Exception as error:  # whatever it is, it belongs to this job alone
        return Outcome("failed", _in_one_line(error))
    return Outcome("finished")


def _train(job: Job, placement: Placement, store: Store, progress: Progress | None) -> None:
    run = store.run(job)
    # What was decided when the run began stays decided.
    settings = located(job, placement, run.read_settings().model_dump(exclude_unset=True) if run.started else None)
    split = open_data(validate(settings))
    folder = run if run.started or borrow(job, store) else run.path
    fit(split, settings, folder=folder, progress=progress)


def located(job: Job, placement: Placement, settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Add the data root and the device of this machine to the settings of ``job``.

    Args:
        job: The run.
        placement: Holds the data root and the device.
        settings: Settings to add to instead of the job's own, e.g. those of a run that was begun.

    Returns:
        Settings that can be trained with on this machine.

    Example:
        >>> from anchored.paper import TABLES
        >>> job = TABLES["noise_symmetric"].job("ce", "mnist/0.8", seed=0)
        >>> located(job, Placement("store", data_root="/data"))["data"]["root"]
        '/data'
    """
    data: dict[str, Any] = {}
    if placement.data_root is not None:
        root = os.path.abspath(os.path.expanduser(placement.data_root))
        data["root"] = root
        for name in ("source", "test"):
            written = job.settings["data"].get(name)
            if written and written not in BUILT_IN:
                data[name] = str(Path(root) / written)
    own = job.settings if settings is None else settings
    return merge(own, {"data": data, "train": {"device": placement.device}})


def check_data(jobs: Sequence[Job], placement: Placement) -> None:
    """Open every data set that ``jobs`` need, so that a missing one is reported at once and not after an hour.

    Args:
        jobs: The runs to be made.
        placement: Holds the data root.

    Raises:
        InputError: If a data set is missing or damaged.

    Example:
        >>> from anchored.paper import TABLES
        >>> job = TABLES["noise_symmetric"].job("ce", "mnist/0.8", seed=0)
        >>> check_data([job], Placement("store", "/nowhere"))                 # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        anchored._errors.InputError: ...
    """
    seen: set[str] = set()
    for job in jobs:
        settings = located(job, placement)
        data = settings["data"]
        name = json.dumps({part: data.get(part) for part in ("source", "root", "test", "below_label")})
        if name not in seen:
            seen.add(name)
            open_data(validate(settings))


def _in_one_line(error: Exception) -> str:
    said = " ".join(str(error).split()) or type(error).__name__
    return said if isinstance(error, InputError) else f"{type(error).__name__}: {said}"

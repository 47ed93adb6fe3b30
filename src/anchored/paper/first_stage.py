"""Shared first stages: the first stage of a decoupled method is the whole training of another method.

Classifier re-training, tau-norm, nearest class means and their like begin as plain training does, from the same seed to
the same last bit. If that run is finished in the store, they begin at its last checkpoint.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

from anchored._files import write_atomically
from anchored.paper.store import Store
from anchored.paper.table import Job
from anchored.runs import RunFolder
from anchored.training import merge

__all__ = ["borrow", "first_stage_of"]


def first_stage_of(job: Job) -> Job | None:
    """Return the job whose training is the first stage of ``job``, or None if there is none.

    Example:
        >>> from anchored.paper import TABLES
        >>> job = TABLES["longtail_mnist"].job("crt+pal", "mnist", seed=0)
        >>> first_stage_of(job).settings["method"]["name"], first_stage_of(first_stage_of(job))
        ('ce+pal', None)
    """
    name = None if job.method is None else job.method.first_stage
    if name is None:
        return None
    settings = merge(job.settings, {"method": {"name": name}})
    settings.pop("second", None)
    settings["method"].pop("options", None)
    return replace(job, row=name, settings=settings)


def borrow(job: Job, store: Store) -> bool:
    """Begin ``job`` where the run of its first stage ended.

    Args:
        job: A job that has not started.
        store: The store in which the run of the first stage may lie.

    Returns:
        Whether there was such a run, and so whether ``job`` has begun.

    Example:
        >>> import tempfile
        >>> from anchored.paper import TABLES
        >>> borrow(TABLES["longtail_mnist"].job("crt+pal", "mnist", seed=0), Store(tempfile.mkdtemp()))
        False
    """
    first, run = first_stage_of(job), store.run(job)
    if first is None or run.started:
        return False
    done = store.run(first)
    if not done.finished or not done.checkpoint_path.is_file():
        return False
    run.make()
    for source, target in _files(done, run):
        if source.is_file():
            write_atomically(target, partial(shutil.copyfile, source))
    return True


def _files(done: RunFolder, run: RunFolder) -> list[tuple[Path, Path]]:
    """The checkpoint, and how long its epochs took: they are a part of what this run costs, too."""
    speed = "speed.jsonl"
    return [(done.path / speed, run.path / speed), (done.checkpoint_path, run.checkpoint_path)]

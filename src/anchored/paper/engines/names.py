"""Engines by name; what an engine needs is imported only when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anchored._errors import InputError
from anchored._names import choose
from anchored.paper.engines._base import Engine
from anchored.paper.engines.local import LocalEngine
from anchored.paper.engines.ray import RayEngine
from anchored.paper.engines.slurm import SlurmEngine
from anchored.paper.worker import Placement

__all__ = ["ENGINES", "get"]

ENGINES: Mapping[str, type[Engine]] = {"local": LocalEngine, "ray": RayEngine, "slurm": SlurmEngine}
"""The values of ``--on``."""


def get(
    name: str,
    placement: Placement,
    *,
    jobs: int | None = None,
    gpus: float = 0.0,
    parameters: Mapping[str, Any] | None = None,
) -> Engine:
    """Make the engine called ``name``.

    Args:
        name: ``local``, ``ray`` or ``slurm``.
        placement: Folders, threads and device of the jobs.
        jobs: How many jobs run at a time; each engine has a default.
        gpus: GPUs of each job, on ``ray`` and ``slurm``.
        parameters: Settings for submitit, on ``slurm`` alone.

    Returns:
        An engine for :func:`anchored.paper.run`.

    Raises:
        InputError: If there is no such engine, or it has no such option, or what it needs is not installed.

    Example:
        >>> get("local", Placement("store"), jobs=3).free
        3
    """
    kind = choose(name, ENGINES, what="engine")
    if kind is not SlurmEngine and parameters:
        raise InputError(f"settings of Slurm were given, but --on is {name!r}; use --on slurm")
    if kind is LocalEngine:
        if gpus:
            raise InputError("--gpus is for --on ray and slurm; here --device cuda puts every cell on the GPU")
        return LocalEngine(placement, jobs=jobs)
    if kind is RayEngine:
        return RayEngine(placement, jobs=jobs, gpus=gpus)
    return SlurmEngine(placement, jobs=jobs, gpus=gpus, parameters=parameters)

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
from anchored.paper.worker import Place

__all__ = ["ENGINES", "make_engine"]

ENGINES: Mapping[str, type[Engine]] = {"local": LocalEngine, "ray": RayEngine, "slurm": SlurmEngine}
"""What ``--on`` takes."""


def make_engine(
    name: str,
    place: Place,
    *,
    jobs: int | None = None,
    gpus: float = 0.0,
    parameters: Mapping[str, Any] | None = None,
) -> Engine:
    """The engine called ``name``.

    Args:
        name: ``local``, ``ray`` or ``slurm``.
        place: Where jobs are done.
        jobs: How many at a time; the engine knows a default.
        gpus: Of each job, on ``ray`` and ``slurm``.
        parameters: For ``slurm`` alone.

    Example:
        >>> make_engine("local", Place("store"), jobs=3).free
        3
    """
    kind = choose(name, ENGINES, what="engine")
    if kind is not SlurmEngine and parameters:
        raise InputError(f"settings of Slurm were given, but --on is {name!r}; use --on slurm")
    if kind is LocalEngine:
        if gpus:
            raise InputError("--gpus is for --on ray and slurm; here --device cuda puts every cell on the GPU")
        return LocalEngine(place, jobs=jobs)
    if kind is RayEngine:
        return RayEngine(place, jobs=jobs, gpus=gpus)
    return SlurmEngine(place, jobs=jobs, gpus=gpus, parameters=parameters)

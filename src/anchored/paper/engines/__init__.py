"""Where jobs are done: on this machine, on a Ray cluster, on a Slurm cluster."""

from anchored.paper.engines._base import Engine
from anchored.paper.engines._make import ENGINES, make_engine
from anchored.paper.engines.local import LocalEngine
from anchored.paper.engines.ray import RayEngine
from anchored.paper.engines.slurm import SlurmEngine

__all__ = ["ENGINES", "Engine", "LocalEngine", "RayEngine", "SlurmEngine", "make_engine"]

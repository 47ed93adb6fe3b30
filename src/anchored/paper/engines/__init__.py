"""Where jobs run: in this process, on this machine, on a Ray cluster, on a Slurm cluster."""

from anchored.paper.engines._base import Engine
from anchored.paper.engines.inline import InlineEngine
from anchored.paper.engines.local import LocalEngine
from anchored.paper.engines.names import ENGINES, get
from anchored.paper.engines.ray import RayEngine
from anchored.paper.engines.slurm import SlurmEngine

__all__ = ["ENGINES", "Engine", "InlineEngine", "LocalEngine", "RayEngine", "SlurmEngine", "get"]

"""Where a run happens: on one process here; on several, see :mod:`anchored.training.fabric`.

The loop speaks to this small interface only, so it does not know how many processes there are.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn

from anchored._errors import InputError

__all__ = ["Runtime", "make_runtime", "pick_device"]


class Runtime:
    """One process, one device.

    Args:
        device: Where tensors live.
        precision: ``"32"``, ``"64"``, or ``"bf16"`` for automatic mixed precision.
    """

    rank = 0
    world_size = 1

    def __init__(self, device: torch.device, precision: str = "32") -> None:
        self.device = device
        self.precision = precision

    @property
    def main(self) -> bool:
        """Whether this process writes files and speaks to the user."""
        return self.rank == 0

    @property
    def dtype(self) -> torch.dtype:
        """The type of weights and inputs."""
        return torch.float64 if self.precision == "64" else torch.float32

    def wrap(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> tuple[nn.Module, torch.optim.Optimizer]:
        """What is called in a step instead of ``model`` and ``optimizer``."""
        return model, optimizer

    def autocast(self) -> AbstractContextManager[object]:
        """The context of a forward pass."""
        if self.precision == "bf16":
            return torch.autocast(self.device.type, dtype=torch.bfloat16)
        return nullcontext()

    def backward(self, loss: Tensor) -> None:
        """Gradients of ``loss``, averaged over the processes."""
        torch.autograd.backward(loss)

    def sum(self, tensor: Tensor) -> Tensor:
        """The sum of ``tensor`` over the processes."""
        return tensor

    def gather(self, rows: Tensor) -> Tensor:
        """The rows ``(m, ...)`` of all processes, in the order of ranks: ``(m * world_size, ...)``."""
        return rows

    def agree(self, flag: bool) -> bool:
        """What the main process says."""
        return flag

    def unify(self, module: nn.Module) -> None:
        """Give all processes the main one's buffers, such as the running statistics of BatchNorm."""


def pick_device(name: str) -> torch.device:
    """``auto`` is the accelerator where there is one, else the CPU.

    Example:
        >>> pick_device("cpu")
        device(type='cpu')
    """
    if name == "auto":
        accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
        return accelerator if accelerator is not None else torch.device("cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"device {name!r} cannot be used here ({reason}); use 'auto' or 'cpu'") from None
    return device


def make_runtime(device: str = "auto", precision: str = "32") -> Runtime:
    """The runtime for this process: several where ``torchrun`` started it among others, else one."""
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        from anchored.training.fabric import FabricRuntime

        return FabricRuntime(device, precision)
    return Runtime(pick_device(device), precision)

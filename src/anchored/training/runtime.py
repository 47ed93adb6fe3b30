"""Where a run happens: on one process here; on several, see :mod:`anchored.training.fabric`.

The loop speaks to this small interface only, so it does not know how many processes there are.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn

from anchored._errors import InputError
from anchored.features.precision import emulates_bfloat16

__all__ = ["Runtime", "make_runtime", "pick_device", "precision_warning"]


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
        """Wrap the network and its optimizer as the processes need them; alone, they stay as they are.

        Args:
            model: The network that is trained.
            optimizer: The optimizer of its parameters.

        Returns:
            What a training step calls instead of the two.
        """
        return model, optimizer

    def autocast(self) -> AbstractContextManager[object]:
        """Return the context of a forward pass."""
        if self.precision == "bf16":
            return torch.autocast(self.device.type, dtype=torch.bfloat16)
        return nullcontext()

    def backward(self, loss: Tensor) -> None:
        """Compute the gradients of ``loss``, averaged over the processes."""
        torch.autograd.backward(loss)

    def sum(self, tensor: Tensor) -> Tensor:
        """Sum ``tensor`` over the processes."""
        return tensor

    def gather(self, rows: Tensor) -> Tensor:
        """Gather the rows ``(m, ...)`` of all processes, in the order of ranks: ``(m * world_size, ...)``."""
        return rows

    def agree(self, flag: bool) -> bool:
        """Return the flag of the main process."""
        return flag

    def unify(self, module: nn.Module) -> None:
        """Give all processes the main one's buffers, such as the running statistics of BatchNorm."""


def pick_device(name: str) -> torch.device:
    """Find the device called ``name``; ``auto`` is the accelerator if there is one, else the CPU.

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


def precision_warning(device: torch.device, precision: str) -> str | None:
    """Write the line that warns of a precision that ``device`` computes in more slowly than in single precision.

    Args:
        device: Where the training happens.
        precision: ``"32"``, ``"64"`` or ``"bf16"``.

    Returns:
        The line, or None if there is nothing to warn of.

    Example:
        >>> print(precision_warning(torch.device("cpu"), "32"))
        None
    """
    if precision != "bf16" or not emulates_bfloat16(device):
        return None
    lacks = "this processor has neither AVX512-BF16 nor AMX" if device.type == "cpu" else "this GPU has no bfloat16"
    return f"precision bf16 is slower than 32 here, up to ten times, because {lacks}; take precision 32"


def make_runtime(device: str = "auto", precision: str = "32") -> Runtime:
    """Make the runtime of this process: one of several if ``torchrun`` started it so, else alone.

    Args:
        device: ``auto``, or a device such as ``cpu`` or ``cuda``.
        precision: ``"32"``, ``"64"``, or ``"bf16"`` for automatic mixed precision.

    Returns:
        The runtime.

    Raises:
        InputError: The device cannot be used here, or several processes need a package that is missing.

    Example:
        >>> runtime = make_runtime("cpu")
        >>> runtime.main, runtime.world_size, runtime.dtype
        (True, 1, torch.float32)
    """
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        from anchored.training.fabric import FabricRuntime

        return FabricRuntime(device, precision)
    return Runtime(pick_device(device), precision)

"""Several processes under ``torchrun``, through lightning-fabric: gloo on CPUs, nccl on GPUs."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor, distributed, nn

from anchored._errors import InputError
from anchored.training.runtime import Runtime

__all__ = ["FabricRuntime"]

_PRECISION: dict[str, Any] = {"32": "32-true", "64": "64-true", "bf16": "bf16-mixed"}


class FabricRuntime(Runtime):
    """This process is one of ``WORLD_SIZE`` that ``torchrun`` started.

    Gradients are averaged over the processes after every backward pass.
    """

    def __init__(self, device: str = "auto", precision: str = "32") -> None:
        try:
            from lightning_fabric import Fabric
        except ImportError as error:
            raise InputError(
                "training on several processes needs lightning-fabric; pip install 'anchored[distributed]'"
            ) from error
        accelerator = "auto" if device == "auto" else torch.device(device).type
        local = int(os.environ.get("LOCAL_WORLD_SIZE", os.environ["WORLD_SIZE"]))
        self.fabric: Any = Fabric(
            accelerator=accelerator,
            strategy="ddp",
            devices=local,
            num_nodes=int(os.environ["WORLD_SIZE"]) // local,
            precision=_PRECISION[precision],
        )
        self.fabric.launch()
        self.fabric.barrier()  # launching waits for the others only the first time
        super().__init__(self.fabric.device, precision)
        self.rank = int(self.fabric.global_rank)
        self.world_size = int(self.fabric.world_size)

    def wrap(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> tuple[nn.Module, torch.optim.Optimizer]:
        """Wrap the model in DistributedDataParallel, and the optimizer in Fabric's.

        Args:
            model: The network that is trained.
            optimizer: The optimizer of its parameters.

        Returns:
            What a training step calls instead of the two.
        """
        network, stepper = self.fabric.setup(model, optimizer)
        return network, stepper

    def autocast(self) -> AbstractContextManager[object]:
        """Return the context of a forward pass."""
        context: AbstractContextManager[object] = self.fabric.autocast()
        return context

    def backward(self, loss: Tensor) -> None:
        """Compute the gradients of ``loss``, averaged over the processes."""
        self.fabric.backward(loss)

    # The exchanges below are torch's own: Fabric's go through functions that torch has deprecated.

    def sum(self, tensor: Tensor) -> Tensor:
        """Sum ``tensor`` over the processes, on the device it came from; ``tensor`` stays as it is."""
        total = tensor.to(self.device, copy=True)
        distributed.all_reduce(total)
        return total.to(tensor.device)

    def gather(self, rows: Tensor) -> Tensor:
        """Gather the rows of all processes, in the order of ranks."""
        mine = rows.to(self.device).contiguous()
        parts = [torch.empty_like(mine) for _ in range(self.world_size)]
        distributed.all_gather(parts, mine)
        return torch.cat(parts).to(rows.device)

    def agree(self, flag: bool) -> bool:
        """Return the flag of the main process."""
        said = torch.tensor([flag], dtype=torch.uint8, device=self.device)
        distributed.broadcast(said, src=0)
        return bool(said)

    def unify(self, module: nn.Module) -> None:
        """Give all processes the main one's buffers: DistributedDataParallel does so before a step, not after."""
        for buffer in module.buffers():
            distributed.broadcast(buffer, src=0)

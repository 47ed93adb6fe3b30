"""Logits over a data set, and the numbers that say how good they are."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from anchored.data import Batches
from anchored.training.runtime import Runtime

__all__ = ["collect", "logits_of"]


def logits_of(model: nn.Module, batches: Batches, runtime: Runtime) -> Tensor:
    """Logits ``(n, k)`` on the CPU, float32 or wider, in the order of the data set, on every process."""
    return collect(model, batches, runtime)[0]


@torch.inference_mode()
def collect(model: nn.Module, batches: Batches, runtime: Runtime, *, features: bool = False) -> tuple[Tensor, Tensor]:
    """Logits ``(n, k)`` and, if asked for, features ``(n, d)``; each process works on its part of the data.

    Args:
        model: A classifier; with ``features`` it needs ``features(inputs)`` and ``head``.
        batches: The data, without augmentation.
        runtime: The processes that share the work.
        features: Whether the features are wanted too; else the second tensor is empty.
    """
    n = len(batches.dataset)
    part = -(-n // runtime.world_size)
    mine = torch.arange(runtime.rank * part, (runtime.rank + 1) * part).clamp(max=n - 1)  # the overlap is cut below
    was_training = model.training
    model.eval()
    outputs: list[Tensor] = []
    vectors: list[Tensor] = []
    for batch in batches.epoch(mine, seed=0, epoch=0):
        with runtime.autocast():
            if features:
                z = model.features(batch.inputs)  # type: ignore[operator]
                vectors.append(z)
                outputs.append(model.head(z))  # type: ignore[operator]
            else:
                outputs.append(model(batch.inputs))
    model.train(was_training)
    return _whole(outputs, runtime, n), _whole(vectors, runtime, n)


def _whole(parts: list[Tensor], runtime: Runtime, n: int) -> Tensor:
    if not parts:
        return torch.empty(0)
    rows = torch.cat(parts)
    wide = rows if rows.dtype == torch.float64 else rows.float()
    return runtime.gather(wide)[:n].cpu()

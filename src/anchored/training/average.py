"""An exponential moving average of the weights: smoother than the last step, free at test time."""

from __future__ import annotations

import copy

import torch
from torch import nn

__all__ = ["Average"]


class Average:
    """A copy of a model that follows it: after each step ``average = decay * average + (1 - decay) * model``.

    In the first steps the decay is ``(1 + t) / (10 + t)`` where that is smaller, so that the initial
    weights are forgotten quickly. Integer buffers (BatchNorm's counters) are copied.

    Args:
        model: The model to follow.
        decay: How much of the past is kept, in (0, 1).
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.module = copy.deepcopy(model).requires_grad_(False)
        self.module.eval()
        self.decay = decay
        self.steps = 0

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        """Take one step towards ``model``."""
        keep = min(self.decay, (1 + self.steps) / (10 + self.steps))
        self.steps += 1
        own, other = self.module.state_dict(), model.state_dict()
        floats = [name for name, value in own.items() if value.is_floating_point()]
        torch._foreach_lerp_([own[name] for name in floats], [other[name] for name in floats], 1 - keep)
        for name in own.keys() - floats:
            own[name].copy_(other[name])

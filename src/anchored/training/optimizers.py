"""From a configuration to an optimiser over the parameters that are trained."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

from anchored._errors import InputError
from anchored.methods import Group
from anchored.training.config import OptimizerConfig

__all__ = ["make_optimizer"]


def make_optimizer(config: OptimizerConfig, parameters: Iterable[nn.Parameter | Group]) -> torch.optim.Optimizer:
    """SGD or AdamW; weight decay covers every parameter, biases and BatchNorm included, as in the references.

    Args:
        config: Which one, and its settings.
        parameters: What is trained: parameters, or groups of them with factors on the learning rate.

    Example:
        >>> type(make_optimizer(OptimizerConfig(lr=0.1), nn.Linear(2, 2).parameters())).__name__
        'SGD'
    """
    trained: list[dict[str, Any]] = []
    loose: list[nn.Parameter] = []
    for item in parameters:
        if isinstance(item, Group):
            mine = [parameter for parameter in item.parameters if parameter.requires_grad]
            if mine:
                trained.append({"params": mine, "factor": item.factor})
        elif item.requires_grad:
            loose.append(item)
    if loose:
        trained.append({"params": loose, "factor": 1.0})
    if not trained:
        raise InputError("the model has no parameter that is trained; unfreeze some, e.g. model.requires_grad_(True)")
    if config.name == "adamw":
        return torch.optim.AdamW(trained, lr=config.lr, weight_decay=config.weight_decay)
    return torch.optim.SGD(
        trained, lr=config.lr, momentum=config.momentum, nesterov=config.nesterov, weight_decay=config.weight_decay
    )

"""Mirror of src/anchored/training/optimizers.py."""

import pytest
import torch

from anchored._errors import InputError
from anchored.training import OptimizerConfig, make_optimizer


def test_settings_reach_the_optimiser():
    model = torch.nn.Linear(2, 2)
    config = OptimizerConfig(lr=0.3, momentum=0.8, nesterov=True, weight_decay=0.01)
    group = make_optimizer(config, model.parameters()).param_groups[0]
    assert (group["lr"], group["momentum"], group["nesterov"], group["weight_decay"]) == (0.3, 0.8, True, 0.01)
    adam = make_optimizer(OptimizerConfig(name="adamw", lr=0.2, weight_decay=0.1), model.parameters())
    assert (type(adam).__name__, adam.param_groups[0]["weight_decay"]) == ("AdamW", 0.1)


def test_frozen_parameters_are_left_out():
    model = torch.nn.Linear(2, 2)
    model.bias.requires_grad_(False)
    assert make_optimizer(OptimizerConfig(), model.parameters()).param_groups[0]["params"] == [model.weight]
    model.weight.requires_grad_(False)
    with pytest.raises(InputError, match="no parameter that is trained"):
        make_optimizer(OptimizerConfig(), model.parameters())

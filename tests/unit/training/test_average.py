"""Mirror of src/anchored/training/average.py: against the recursion written out."""

import pytest
import torch

from anchored.training import Average


def test_follows_the_recursion():
    model = torch.nn.BatchNorm1d(2)
    average = Average(model, decay=0.9)
    expected = model.weight.detach().clone()
    for step in range(40):
        with torch.no_grad():
            model.weight.copy_(torch.tensor([float(step), -1.0]))
        keep = min(0.9, (1 + step) / (10 + step))
        expected = keep * expected + (1 - keep) * model.weight.detach()
        average.update(model)
    torch.testing.assert_close(average.module.weight, expected)
    assert average.steps == 40


def test_counters_are_copied_and_nothing_is_trained():
    model = torch.nn.BatchNorm1d(2)
    average = Average(model, decay=0.5)
    model(torch.randn(4, 2, generator=torch.Generator().manual_seed(0)))
    average.update(model)
    assert int(average.module.num_batches_tracked) == 1
    assert not any(parameter.requires_grad for parameter in average.module.parameters())
    assert model.weight.requires_grad


def test_an_average_of_a_constant_is_that_constant():
    model = torch.nn.Linear(2, 2)
    average = Average(model, decay=0.99)
    for _ in range(5):
        average.update(model)
    torch.testing.assert_close(average.module.weight, model.weight.detach())


def test_the_copy_is_independent():
    model = torch.nn.Linear(1, 1)
    average = Average(model, decay=0.99)
    with torch.no_grad():
        model.weight.add_(1)
    assert average.module.weight.item() == pytest.approx(model.weight.item() - 1)

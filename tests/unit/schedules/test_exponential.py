"""Mirror of src/anchored/schedules/exponential.py: torch's scheduler, the end that stays, the refusals."""

import pytest
import torch

from anchored import InputError
from anchored.schedules import Exponential


def test_agrees_with_torch():
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.4)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.97)
    schedule = Exponential(epochs=250, gamma=0.97)
    for epoch in range(250):
        assert 0.4 * schedule(epoch) == pytest.approx(optimizer.param_groups[0]["lr"], rel=1e-12)
        optimizer.step()
        scheduler.step()


@pytest.mark.parametrize("epochs", [1, 10, 125, 1000])
def test_another_length_ends_at_the_same_rate(epochs):
    schedule = Exponential(epochs=250, gamma=0.97)
    assert schedule.for_epochs(epochs)(epochs) == pytest.approx(0.97**250, rel=1e-12)


@pytest.mark.parametrize("gamma", [0, -0.5, 1.01])
def test_refuses_a_factor_outside_the_interval(gamma):
    with pytest.raises(InputError, match=r"gamma must lie in \(0, 1\]"):
        Exponential(epochs=10, gamma=gamma)


def test_refuses_to_be_fitted_to_no_epochs():
    with pytest.raises(InputError, match="epochs must be at least 1, got 0"):
        Exponential(epochs=10, gamma=0.9).for_epochs(0)

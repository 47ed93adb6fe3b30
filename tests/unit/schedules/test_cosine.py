"""Mirror of src/anchored/schedules/cosine.py: torch's scheduler, the two ends, the refusals."""

import pytest
import torch

from anchored import InputError
from anchored.schedules import Cosine


def rates_of_torch(epochs, base, lowest_rate):
    """The rate of each epoch when torch's recursive scheduler steps after each."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=base)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs, eta_min=lowest_rate)
    rates = []
    for _ in range(epochs):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates


@pytest.mark.parametrize(("epochs", "base", "lowest_rate"), [(50, 0.01, 0.0), (50, 0.01, 1e-3), (200, 0.1, 0.0)])
def test_agrees_with_torch(epochs, base, lowest_rate):
    schedule = Cosine(epochs=epochs, lowest=lowest_rate / base)
    ours = [base * schedule(epoch) for epoch in range(epochs)]
    assert ours == pytest.approx(rates_of_torch(epochs, base, lowest_rate), rel=1e-9, abs=1e-15)


def test_starts_at_the_base_rate_is_half_way_in_the_middle_and_stays_at_the_lowest():
    schedule = Cosine(epochs=8, lowest=0.2)
    assert schedule(0) == 1.0
    assert schedule(4) == pytest.approx(0.6)
    assert schedule(8) == schedule(9.5) == schedule(1000) == 0.2


def test_the_same_wave_over_another_length():
    schedule = Cosine(epochs=200, lowest=0.1)
    shorter = schedule.for_epochs(20)
    assert [shorter(e) for e in range(20)] == pytest.approx([schedule(10 * e) for e in range(20)])


@pytest.mark.parametrize("lowest", [-0.1, 1.1, float("nan")])
def test_refuses_a_lowest_factor_that_is_no_share(lowest):
    with pytest.raises(InputError, match=r"lowest must lie in \[0, 1\].*divide eta_min by the rate"):
        Cosine(epochs=10, lowest=lowest)


def test_refuses_no_epochs():
    with pytest.raises(InputError, match="epochs must be at least 1, got 0"):
        Cosine(epochs=0)


def test_cannot_be_changed():
    with pytest.raises(AttributeError):
        Cosine(epochs=10).epochs = 5

"""Mirror of src/anchored/schedules/warm_up.py: both customs, torch's linear rise, another length, the refusals."""

import pytest
import torch

from anchored import InputError
from anchored.schedules import Constant, Cosine, MultiStep, WarmUp


def test_the_first_custom_reaches_the_full_rate_in_the_last_warm_epoch():
    schedule = WarmUp(schedule=Constant(epochs=200), warm_epochs=5)
    assert [schedule(e) for e in range(7)] == pytest.approx([1 / 5, 2 / 5, 3 / 5, 4 / 5, 1, 1, 1])


def test_the_second_custom_agrees_with_torch():
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.2)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=1 / 3, total_iters=5)
    schedule = WarmUp(schedule=Constant(epochs=200), warm_epochs=5, start=1 / 3)
    for epoch in range(10):
        assert 0.2 * schedule(epoch) == pytest.approx(optimizer.param_groups[0]["lr"], rel=1e-12)
        optimizer.step()
        scheduler.step()


@pytest.mark.parametrize("start", [None, 0.0, 1 / 3])
def test_multiplies_the_schedule_behind_it_without_shifting_it(start):
    cosine = Cosine(epochs=20)
    warm = WarmUp(schedule=cosine, warm_epochs=4, start=start)
    rise = WarmUp(schedule=Constant(epochs=20), warm_epochs=4, start=start)
    assert [warm(e) for e in range(20)] == pytest.approx([rise(e) * cosine(e) for e in range(20)])


def test_its_length_is_that_of_the_schedule_behind_it():
    warm = WarmUp(schedule=Cosine(epochs=20), warm_epochs=4)
    assert warm.epochs == 20
    assert warm.for_epochs(10) == WarmUp(schedule=Cosine(epochs=10), warm_epochs=2.0)


def test_a_warm_up_of_less_than_an_epoch_is_gone():
    steps = MultiStep(epochs=200, milestones=(160,), factors=(0.01,))
    short = WarmUp(schedule=steps, warm_epochs=5).for_epochs(10)
    assert [short(e) for e in range(10)] == [1.0] * 8 + [0.01] * 2


@pytest.mark.parametrize("warm_epochs", [0, -1, 21])
def test_refuses_a_warm_up_longer_than_the_run(warm_epochs):
    with pytest.raises(InputError, match=r"warm_epochs must lie in \(0, 20\]"):
        WarmUp(schedule=Cosine(epochs=20), warm_epochs=warm_epochs)


@pytest.mark.parametrize("start", [-0.1, 1.5])
def test_refuses_a_start_that_is_no_share(start):
    with pytest.raises(InputError, match=r"start must lie in \[0, 1\]"):
        WarmUp(schedule=Cosine(epochs=20), start=start)


@pytest.mark.parametrize("inner", [{"name": "cosine"}, "cosine", None, 3])
def test_refuses_what_is_not_a_schedule(inner):
    with pytest.raises(InputError, match="schedule must be a Schedule"):
        WarmUp(schedule=inner)

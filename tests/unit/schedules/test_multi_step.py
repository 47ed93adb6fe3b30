"""Mirror of src/anchored/schedules/multi_step.py: torch's scheduler, the edges, another length, the refusals."""

import math

import pytest
import torch

from anchored import InputError
from anchored.schedules import MultiStep


@pytest.mark.parametrize(("milestones", "gamma"), [((10, 20), 0.1), ((3, 4, 25), 0.5), ((29,), 0.01)])
def test_powers_of_one_factor_agree_with_torch(milestones, gamma):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones, gamma)
    schedule = MultiStep.repeated(epochs=30, milestones=milestones, gamma=gamma)
    for epoch in range(30):
        assert 0.1 * schedule(epoch) == pytest.approx(optimizer.param_groups[0]["lr"], rel=1e-12)
        optimizer.step()
        scheduler.step()


def test_factors_refer_to_the_base_rate_and_start_at_their_milestone():
    schedule = MultiStep(epochs=10, milestones=(4, 8), factors=(0.5, 2.0))
    assert [schedule(epoch) for epoch in (0, 3, 3.999, 4, 7.5, 8, 9, 100)] == [1, 1, 1, 0.5, 0.5, 2, 2, 2]


def test_without_milestones_it_is_constant():
    assert MultiStep(epochs=10, milestones=(), factors=())(9) == 1.0


@pytest.mark.parametrize("epochs", [1, 2, 5, 7, 10, 20, 37, 200, 1000])
def test_another_length_changes_at_the_first_whole_epoch_after_the_same_share(epochs):
    schedule = MultiStep(epochs=200, milestones=(160, 180), factors=(0.01, 0.0001)).for_epochs(epochs)
    first, second = math.ceil(160 * epochs / 200), math.ceil(180 * epochs / 200)
    expected = [1.0 if e < first else 0.01 if e < second else 0.0001 for e in range(epochs)]
    assert [schedule(e) for e in range(epochs)] == expected


def test_lists_become_tuples_so_that_equal_schedules_are_equal_and_hashable():
    from_lists = MultiStep(epochs=10, milestones=[4], factors=[0.1])
    assert from_lists == MultiStep(epochs=10, milestones=(4.0,), factors=(0.1,))
    assert hash(from_lists) == hash(MultiStep(epochs=10, milestones=(4,), factors=(0.1,)))


@pytest.mark.parametrize(
    ("milestones", "factors", "message"),
    [
        ((4, 8), (0.1,), "equally many, got 2 and 1"),
        ((8, 4), (0.1, 0.01), r"must rise within \(0, 10\), got \[8.0, 4.0\]"),
        ((4, 4), (0.1, 0.01), "must rise"),
        ((0, 4), (0.1, 0.01), "must rise"),
        ((4, 10), (0.1, 0.01), "must rise"),
        ((4,), (-0.1,), r"every entry of factors must lie in \[0, inf\)"),
        ((4,), ("x",), "every entry of factors must lie in"),
        ("48", (0.1,), "milestones must be a list of numbers, got '48'"),
        (4, (0.1,), "milestones must be a list of numbers, got 4"),
    ],
)
def test_refuses_steps_that_make_no_staircase(milestones, factors, message):
    with pytest.raises(InputError, match=message):
        MultiStep(epochs=10, milestones=milestones, factors=factors)

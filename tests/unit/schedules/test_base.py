"""Mirror of src/anchored/schedules/_base.py: the call, plain values, and positions moved to another length."""

import math
from fractions import Fraction

import pytest

from anchored import InputError, schedules
from anchored.schedules._base import Schedule, check_epoch, check_epochs, scaled


def test_a_schedule_cannot_be_made_without_its_formula():
    with pytest.raises(TypeError, match="abstract"):
        Schedule()


def test_the_call_checks_the_epoch_and_answers_the_factor():
    cosine = schedules.Cosine(epochs=10)
    assert cosine(3) == cosine.factor(3.0)


@pytest.mark.parametrize("epoch", [-1, -0.01, math.nan, math.inf, "3", None, True])
def test_refuses_what_is_not_an_epoch(epoch):
    with pytest.raises(InputError, match=r"epoch must lie in \[0, inf\).*counted from 0"):
        check_epoch(epoch)


@pytest.mark.parametrize("epochs", [0, -5, 2.5, "10", None, True])
def test_refuses_what_is_not_a_number_of_epochs(epochs):
    with pytest.raises(InputError, match="epochs must be"):
        check_epochs(epochs)


def test_plain_values_hold_lists_and_nested_schedules():
    steps = schedules.MultiStep(epochs=30, milestones=(10, 20), factors=(0.1, 0.01))
    assert schedules.WarmUp(schedule=steps, warm_epochs=3).as_dict() == {
        "name": "warm-up",
        "schedule": {"name": "multi-step", "epochs": 30, "milestones": [10.0, 20.0], "factors": [0.1, 0.01]},
        "warm_epochs": 3,
        "start": None,
    }


def test_positions_keep_their_share_exactly_where_that_is_whole():
    for new in range(1, 400):
        exact = Fraction(160 * new, 200)
        assert abs(scaled(160, 200, new) - exact) < Fraction(1, 10**9)
        if exact.denominator == 1:
            assert scaled(160, 200, new) == exact


def test_positions_come_back_from_every_other_length():
    for new in range(1, 400):
        assert scaled(scaled(160, 200, new), new, 200) == pytest.approx(160, abs=3e-7)
    assert scaled(scaled(160, 200, 7), 7, 200) == 160

"""Mirror of src/anchored/schedules/deferred.py: the reference's integer division, and the drop it coincides with."""

import pytest

from anchored import InputError
from anchored.schedules import PUBLISHED, Deferred


def test_agrees_with_the_reference():
    # The reference picks beta from [0, 0.9999] by epoch // 160.
    assert [Deferred()(epoch) for epoch in range(200)] == [bool(epoch // 160) for epoch in range(200)]


@pytest.mark.parametrize("epochs", [2, 3, 7, 10, 30, 64, 199, 200, 500])
def test_sets_in_with_the_first_drop_of_the_rate_at_every_length(epochs):
    drw, rate = Deferred().for_epochs(epochs), PUBLISHED["ldam"].schedule.for_epochs(epochs)
    assert [drw(e) for e in range(epochs)] == [rate(e) < 1 for e in range(epochs)]


def test_plain_values_give_the_same_again():
    drw = Deferred(epochs=90, start=60)
    assert Deferred(**drw.as_dict()) == drw


def test_zero_means_from_the_beginning():
    assert Deferred(epochs=10, start=0)(0) is True


@pytest.mark.parametrize("start", [-1, 11])
def test_refuses_a_start_outside_the_run(start):
    with pytest.raises(InputError, match=r"start must lie in \[0, 10\]"):
        Deferred(epochs=10, start=start)


def test_refuses_a_negative_epoch():
    with pytest.raises(InputError, match="counted from 0"):
        Deferred()(-1)

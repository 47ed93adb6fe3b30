"""Mirror of src/anchored/schedules/parabolic.py: BBN's formula with its epochs counted from 1."""

import pytest

from anchored import InputError
from anchored.schedules import Parabolic


def test_agrees_with_the_published_formula():
    schedule = Parabolic(epochs=200)
    for counted_from_one in range(1, 201):
        published = 1 - ((counted_from_one - 1) / 200) ** 2
        assert schedule(counted_from_one - 1) == pytest.approx(published, rel=1e-15)


def test_stays_at_zero_after_the_end():
    assert Parabolic(epochs=10)(10) == Parabolic(epochs=10)(11) == 0.0


def test_the_same_curve_over_another_length():
    assert Parabolic(epochs=200).for_epochs(20)(5) == Parabolic(epochs=200)(50)


def test_refuses_no_epochs():
    with pytest.raises(InputError, match="epochs must be"):
        Parabolic(epochs=0)

"""Mirror of src/anchored/schedules/constant.py."""

import pytest

from anchored import InputError
from anchored.schedules import Constant


@pytest.mark.parametrize("epoch", [0, 0.5, 1, 10_000])
def test_is_one_everywhere(epoch):
    assert Constant(epochs=20)(epoch) == 1.0


def test_takes_another_length():
    assert Constant().for_epochs(30) == Constant(epochs=30)


def test_refuses_no_epochs():
    with pytest.raises(InputError, match="epochs must be at least 1, got 0"):
        Constant(epochs=0)

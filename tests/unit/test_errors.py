"""Mirror of src/anchored/_errors.py."""

from anchored import InputError


def test_is_caught_as_a_value_error():
    assert issubclass(InputError, ValueError)
    assert str(InputError("one line")) == "one line"

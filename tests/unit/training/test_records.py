"""Mirror of src/anchored/training/records.py: every field of its kind, every epoch in its place."""

import pytest

from anchored._errors import InputError
from anchored.training.records import Count, Record, check_history, check_record


class Pair(Record):
    number: Count
    inner: dict[str, float] | None = None


def test_unknown_fields_may_hold_anything():
    check_record(Pair, {"number": 3, "other": [None, {}]}, where="f")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, "f is damaged: 'number' is missing; again"),
        ({"number": "3"}, "f is damaged: 'number': input should be a valid integer, got '3'; again"),
        ({"number": True}, "f is damaged: 'number': input should be a valid integer, got True; again"),
        ({"number": -1}, "f is damaged: 'number': input should be greater than or equal to 0, got -1; again"),
        ({"number": 1, "inner": {"a": float("nan")}}, "f is damaged: 'inner.a': input should be a finite"),
        (3, "f is damaged: input should be a valid dictionary or instance of Pair, got 3; again"),
    ],
)  # fmt: skip
def test_the_first_fault_is_named(value, message):
    with pytest.raises(InputError) as refusal:
        check_record(Pair, value, where="f", way_out="again")
    assert str(refusal.value).startswith(message)


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ("text", "h is damaged: it must hold a record per epoch"),
        (None, "h is damaged: it must hold a record per epoch"),
        (["x"], "h, epoch 1 is damaged: input should be a valid dictionary"),
        ([{"epoch": 1, "loss": "low"}], "h, epoch 1 is damaged: 'loss': input should be a valid number"),
        ([{"epoch": 1}, {"epoch": 3}], "h is damaged: record 2 is of epoch 3"),
    ],
)
def test_a_history_counts_its_epochs(records, message):
    with pytest.raises(InputError) as refusal:
        check_history(records, where="h")
    assert str(refusal.value).startswith(message)


def test_a_good_history_passes():
    check_history([{"epoch": 1, "lr": 0.1, "test_accuracy": None}, {"epoch": 2, "samples": 5}], where="h")
    check_history([], where="h")

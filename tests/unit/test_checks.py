"""Mirror of src/anchored/_checks.py: what passes, what is refused, and what the refusal says."""

import math

import numpy as np
import pytest
import torch

from anchored._checks import check_integer, check_labels, check_real
from anchored._errors import InputError


@pytest.mark.parametrize("value", [2, np.int64(2), 7])
def test_whole_numbers_pass_as_int(value):
    assert check_integer("k", value, low=2) == value
    assert type(check_integer("k", value, low=2)) is int


@pytest.mark.parametrize("value", [1, -3, 2.0, "2", None, True, math.nan])
def test_what_is_no_whole_number_in_range_is_refused(value):
    with pytest.raises(InputError, match=r"^k must be .*at least 2, got .*; use more$"):
        check_integer("k", value, low=2, way_out="use more")


def test_an_upper_end_is_named():
    with pytest.raises(InputError, match="k must be between 2 and 5, got 6"):
        check_integer("k", 6, low=2, high=5)


def test_the_ends_of_an_interval_belong_to_it_as_said():
    assert check_real("q", 1, low=0, high=1) == 1.0
    assert check_real("q", 0.0, low=0, high=1, closed="left") == 0.0
    with pytest.raises(InputError, match=r"q must lie in \(0, 1\], got 0"):
        check_real("q", 0, low=0, high=1, closed="right")
    with pytest.raises(InputError, match=r"q must lie in \[0, 1\), got 1"):
        check_real("q", 1, low=0, high=1, closed="left")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "0.5", None, True, [0.5]])
def test_what_is_no_finite_number_is_refused(value):
    with pytest.raises(InputError, match=r"q must lie in \(-inf, inf\), got"):
        check_real("q", value)


def test_labels_come_back_as_int64_and_untouched():
    labels = torch.tensor([0, 2], dtype=torch.uint8)
    assert check_labels(labels, 3).dtype == torch.int64
    assert labels.dtype == torch.uint8
    assert check_labels(torch.zeros(0, dtype=torch.int64), 3).shape == (0,)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (torch.zeros(2, 2, dtype=torch.int64), r"one-dimensional, got shape \(2, 2\)"),
        (torch.tensor([0.0, 1.0]), "must be integers, got torch.float32"),
        (torch.tensor([True]), "must be integers"),
        (torch.tensor([0, 3]), r"in 0\.\.2, got values from 0 to 3"),
        (torch.tensor([-1, 2]), r"in 0\.\.2, got values from -1 to 2"),
    ],
)
def test_labels_outside_the_rule_are_refused(labels, message):
    with pytest.raises(InputError, match=message):
        check_labels(labels, 3)


def test_without_k_only_negative_labels_are_refused():
    assert check_labels(torch.tensor([0, 99])).tolist() == [0, 99]
    with pytest.raises(InputError, match="non-negative"):
        check_labels(torch.tensor([-1]))

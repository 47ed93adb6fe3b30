"""Mirror of src/anchored/losses/_counts.py: what counts may be, and what is said when they are not."""

import math

import pytest
import torch

from anchored import InputError
from anchored.losses import BalancedSoftmax
from anchored.losses._counts import check_counts


@pytest.mark.parametrize("counts", [[3, 1], torch.tensor([3, 1]), torch.tensor([3.0, 1.0]), (3, 1)])
def test_takes_sequences_and_tensors(counts):
    assert check_counts(counts).tolist() == [3.0, 1.0]


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([5, 0, 2], "got 0 for class 1; drop a class without samples, or count it as 1"),
        ([5, -3], "got -3 for class 1"),
        ([5, math.nan], "got nan for class 1"),
        ([math.inf, 5], "got inf for class 0"),
        ("abc", "one number per class, got 'abc'"),
        ([5], r"at least two, got shape \(1,\)"),
        ([[5, 3]], r"one number per class, at least two, got shape \(1, 2\)"),
    ],
)
def test_refuses_counts_that_are_none(counts, message):
    with pytest.raises(InputError, match=message):
        check_counts(counts)


def test_refuses_logits_of_another_width():
    with pytest.raises(InputError, match=r"one entry per class: got 2 for logits \(1, 3\)"):
        BalancedSoftmax([3, 1])(torch.zeros(1, 3), torch.tensor([0]))

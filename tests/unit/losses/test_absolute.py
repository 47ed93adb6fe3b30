"""Mirror of src/anchored/losses/absolute.py: the L1 distance, the reversed cross entropy, and their constant sums."""

import math

import pytest
import torch

from anchored import InputError
from anchored.losses import MeanAbsoluteError, ReverseCrossEntropy


@pytest.fixture
def logits():
    return torch.randn(8, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_scale_two_is_the_l1_distance_to_the_one_hot_label(logits):
    target = torch.arange(8) % 6
    expected = (logits.softmax(dim=1) - torch.eye(6).double()[target]).abs().sum(dim=1)
    torch.testing.assert_close(MeanAbsoluteError(2.0).pointwise(logits, target), expected)


def test_reverse_cross_entropy_is_absolute_error_times_minus_log_of_the_floor(logits):
    scaled = MeanAbsoluteError(-math.log(1e-4))
    torch.testing.assert_close(ReverseCrossEntropy().per_class(logits), scaled.per_class(logits))
    assert math.isclose(ReverseCrossEntropy().log_zero, -9.2103, abs_tol=5e-5)


@pytest.mark.parametrize("loss", [MeanAbsoluteError(1.5), ReverseCrossEntropy(0.01)], ids=repr)
def test_the_total_is_known_beforehand(logits, loss):
    torch.testing.assert_close(loss.total(logits.log_softmax(dim=1)), loss.per_class(logits).sum(dim=1))


def test_refuses_scales_and_floors_that_are_none():
    with pytest.raises(InputError, match=r"scale must lie in \(0, inf\), got 0"):
        MeanAbsoluteError(0)
    for floor in (0.0, 1.0, -1e-4):
        with pytest.raises(InputError, match=r"floor must lie in \(0, 1\)"):
            ReverseCrossEntropy(floor)

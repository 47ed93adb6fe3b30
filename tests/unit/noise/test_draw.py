"""Mirror of src/anchored/noise/_draw.py: exact quotas, fair picks, many rows at once, floors without rounding loss."""

from fractions import Fraction

import pytest
import torch

from anchored import InputError
from anchored.noise._draw import checked_labels, draw_from_rows, each_for_itself, floor_share, quota_per_class


@pytest.mark.parametrize("percent", range(0, 100))
def test_floor_of_a_percentage_is_that_of_exact_arithmetic(percent):
    for n in (1, 7, 50, 100, 600, 5000, 5421):
        assert floor_share(percent / 100, n) == (Fraction(percent, 100) * n).__floor__()


def test_every_class_fills_its_quota():
    labels = torch.randint(5, (997,), generator=torch.Generator().manual_seed(1))
    quota = torch.tensor([0, 10, 50, 1, 100])
    mask = quota_per_class(labels, quota, torch.Generator().manual_seed(2))
    assert [int(mask[labels == c].sum()) for c in range(5)] == quota.tolist()


def test_every_sample_is_picked_as_often():
    labels = torch.tensor([0, 1, 0, 1, 0, 0])
    generator = torch.Generator().manual_seed(0)
    picked = sum(quota_per_class(labels, torch.tensor([1, 1]), generator).double() for _ in range(1000)) / 1000
    torch.testing.assert_close(picked, torch.tensor([0.25, 0.5, 0.25, 0.5, 0.25, 0.25]).double(), atol=0.06, rtol=0)


def test_each_for_itself_follows_its_own_rate():
    rates = torch.tensor([0.0, 0.3, 1.0]).double().repeat_interleave(20_000)
    share = each_for_itself(rates, torch.Generator().manual_seed(0)).double().reshape(3, -1).mean(dim=1)
    assert share[0] == 0
    assert share[2] == 1
    assert abs(share[1] - 0.3) < 0.015


def test_checked_labels_is_a_copy():
    labels = torch.tensor([0, 1])
    checked_labels(labels, 2)[0] = 1
    assert labels.tolist() == [0, 1]


def test_no_labels_are_refused():
    with pytest.raises(InputError, match="at least one label"):
        checked_labels(torch.tensor([], dtype=torch.int64), 2)


def test_many_rows_on_one_line_do_not_disturb_one_another():
    rows = torch.eye(1000, dtype=torch.float64).roll(1, dims=1)
    at = torch.arange(1000).repeat(50)
    assert torch.equal(draw_from_rows(rows, at, torch.Generator().manual_seed(0)), (at + 1) % 1000)

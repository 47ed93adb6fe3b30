"""Mirror of src/anchored/prototypes/_direct_sum.py: Rankin's optimum, its parts, the refusals."""

import pytest
import torch

from anchored import InputError
from anchored.prototypes import direct_sum


@pytest.mark.parametrize(("k", "d"), [(4, 2), (5, 3), (6, 4), (66, 64), (100, 64), (128, 64), (127, 64)])
def test_rows_are_unit_sum_to_zero_and_meet_at_no_acute_angle(k, d):
    w = direct_sum(k, d, dtype=torch.float64)
    gram = w @ w.T
    assert w.shape == (k, d)
    assert (gram.diagonal() - 1).abs().max() < 1e-14
    assert gram.fill_diagonal_(-2.0).max() < 1e-14
    assert w.sum(dim=0).abs().max() < 1e-13


def test_hundred_classes_in_64_dimensions_are_28_triangles_and_8_pairs():
    w = direct_sum(100, 64, dtype=torch.float64)
    gram = (w @ w.T).round(decimals=9)
    sizes = [int((row < 0).sum()) + 1 for row in gram]
    assert sizes == [3] * 84 + [2] * 16
    for first, size in [(0, 3), (81, 3), (84, 2), (98, 2)]:
        block = gram[first : first + size, first : first + size]
        ideal = torch.full((size, size), -1 / (size - 1), dtype=torch.float64).fill_diagonal_(1)
        torch.testing.assert_close(block, ideal, atol=1e-8, rtol=0)


def test_twice_d_classes_are_the_cross_polytope():
    w = direct_sum(8, 4, dtype=torch.float64)
    torch.testing.assert_close(w[0::2], -w[1::2])
    torch.testing.assert_close(w[0::2] @ w[0::2].T, torch.eye(4, dtype=torch.float64))


def test_the_rotation_follows_the_generator():
    assert torch.equal(direct_sum(6, 4), direct_sum(6, 4, generator=torch.Generator().manual_seed(0)))
    assert not torch.equal(direct_sum(6, 4), direct_sum(6, 4, generator=torch.Generator().manual_seed(1)))


@pytest.mark.parametrize(("k", "d", "remedy"), [(5, 4, "simplex"), (9, 4, "packing")])
def test_refuses_sizes_outside_its_range(k, d, remedy):
    with pytest.raises(InputError, match=rf"d \+ 2 <= k <= 2 d, got k={k}, d={d}; use {remedy}\({k}, {d}\)"):
        direct_sum(k, d)

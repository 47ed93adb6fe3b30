"""Mirror of src/anchored/audit/judges/base.py: what is checked, standardised and recognised as a copy."""

import pytest
import torch

from anchored import InputError
from anchored.audit.judges import Vectors


def test_standardised_columns_have_mean_zero_and_deviation_one_and_constant_ones_are_gone():
    X = torch.stack([torch.arange(50.0), torch.full((50,), 7.0), torch.arange(50.0).flip(0) * 3 + 1e6], dim=1)
    rows = Vectors.check(X, torch.arange(50) % 2, 2).standardised
    assert rows.shape == (50, 2)
    torch.testing.assert_close(rows.mean(dim=0), torch.zeros(2), atol=1e-6, rtol=0)
    torch.testing.assert_close(rows.std(dim=0, correction=0), torch.ones(2))


def test_a_large_offset_keeps_its_digits():
    X = torch.randn(40, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    near, far = (Vectors.check(X + shift, torch.arange(40) % 2, 2).standardised for shift in (0.0, 1e8))
    torch.testing.assert_close(near, far, atol=1e-5, rtol=0)


def test_copies_share_a_group():
    X = torch.tensor([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    copies = Vectors.check(X, torch.tensor([0, 1, 1]), 2).copies
    assert copies[0] == copies[2] != copies[1]
    assert Vectors.check(X[:2], torch.tensor([0, 1]), 2).copies is None


def test_a_subset_takes_everything_along():
    vectors = Vectors.check(torch.eye(4), torch.tensor([0, 1, 0, 1]), 2, weights=torch.arange(4.0))
    part = vectors.subset(torch.tensor([1, 3]))
    assert (part.labels.tolist(), part.each.tolist(), len(part)) == ([1, 1], [1.0, 3.0], 2)
    assert torch.equal(part.learnt, torch.tensor([[0.0, 1.0], [0.0, 1.0]], dtype=torch.float64))


@pytest.mark.parametrize(
    ("X", "labels", "weights", "said"),
    [
        (torch.zeros(3), torch.tensor([0, 1, 0]), None, r"X must be \(n, d\)"),
        (torch.zeros(2, 1), torch.tensor([0, 1, 0]), None, "a row per label"),
        (torch.tensor([[0.0], [float("nan")]]), torch.tensor([0, 1]), None, "must be finite"),
        (torch.zeros(2, 1), torch.tensor([0, 2]), None, "labels must be in 0..1"),
        (torch.zeros(2, 1), torch.tensor([0, 1]), torch.zeros(2), "not all 0"),
        (torch.zeros(2, 1), torch.tensor([0, 1]), torch.tensor([1.0, -1.0]), ">= 0"),
    ],
)
def test_refuses_what_cannot_be_judged(X, labels, weights, said):
    with pytest.raises(InputError, match=said):
        Vectors.check(X, labels, 2, weights=weights)


def test_principal_axes_are_those_of_a_singular_value_decomposition():
    g = torch.Generator().manual_seed(3)
    vectors = Vectors.check(torch.randn(400, 3, generator=g) @ torch.randn(3, 5, generator=g), torch.arange(400) % 2, 2)
    variances, along = vectors.principal
    values = torch.linalg.svdvals(vectors.standardised.double())[:3]
    torch.testing.assert_close(variances.double().flip(0), values.square() / 400, rtol=1e-3, atol=1e-3)
    assert along.shape == (400, 3)  # the other axes are empty
    torch.testing.assert_close(along.square().mean(dim=0), variances, rtol=1e-3, atol=1e-3)

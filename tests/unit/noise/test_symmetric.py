"""Mirror of src/anchored/noise/_symmetric.py: exact counts, uniform targets, the published MNIST rates, refusals."""

import math

import pytest
import torch

from anchored import InputError, noise

MNIST_COUNTS = (5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949)


@pytest.fixture
def mnist():
    return torch.repeat_interleave(torch.tensor(MNIST_COUNTS))


@pytest.mark.parametrize("eta", [0.0, 0.2, 0.4, 0.6, 0.8])
def test_exact_flips_the_floor_of_each_class(mnist, eta):
    receipt = noise.symmetric(mnist, eta, 10)
    changed = torch.bincount(mnist[receipt.flipped], minlength=10)
    assert changed.tolist() == [math.floor(round(eta * 10) * n / 10) for n in MNIST_COUNTS]


def test_the_apl_procedure_flips_the_published_shares_of_mnist(mnist):
    receipt = noise.symmetric(mnist, 0.8, 10, mode="apl")
    assert torch.bincount(mnist[receipt.flipped]).tolist() == [4800] * 10
    assert round(receipt.per_class[5], 3) == 0.885
    assert round(receipt.per_class[1], 3) == 0.712


def test_apl_and_exact_agree_on_balanced_classes():
    clean = torch.arange(10).repeat_interleave(500)
    assert noise.symmetric(clean, 0.4, 10, mode="apl").per_class == (0.4,) * 10


def test_iid_rate_is_binomial(mnist):
    receipt = noise.symmetric(mnist, 0.4, 10, mode="iid", generator=torch.Generator().manual_seed(3)).check()
    assert abs(receipt.rate - 0.4) < 5 * math.sqrt(0.24 / 60_000)
    assert receipt.rate != 0.4  # exact counts would hit it


@pytest.mark.parametrize("mode", ["exact", "iid", "apl"])
def test_wrong_labels_are_uniform_over_the_other_classes(mode):
    clean = torch.arange(5).repeat_interleave(20_000)
    receipt = noise.symmetric(clean, 0.4, 5, mode=mode)
    off = receipt.matrix[~torch.eye(5, dtype=torch.bool)]
    torch.testing.assert_close(off, torch.full_like(off, 0.1), atol=0.012, rtol=0)


def test_a_class_that_is_absent_has_no_rate():
    assert noise.symmetric(torch.tensor([0] * 10), 0.5, 3).per_class == (0.5, None, None)


@pytest.mark.parametrize(("eta", "k"), [(0.9, 10), (0.5, 2), (1.0, 10), (-0.1, 10), (math.nan, 10), ("0.2", 10)])
def test_refuses_a_rate_at_which_the_true_label_is_not_the_likeliest(eta, k):
    with pytest.raises(InputError, match=r"eta must lie in \[0, 0\.[59]\), got .* no longer the likeliest"):
        noise.symmetric(torch.arange(k), eta, k)


@pytest.mark.parametrize(
    ("labels", "rule"),
    [
        (torch.zeros(2, 2, dtype=torch.int64), "one-dimensional"),
        (torch.tensor([0, 10]), r"in 0\.\.9"),
        (torch.tensor([-1, 3]), r"in 0\.\.9"),
        (torch.tensor([0.0, 1.0]), "integers"),
    ],
)
def test_refuses_labels_that_are_no_labels(labels, rule):
    with pytest.raises(InputError, match=rule):
        noise.symmetric(labels, 0.2, 10)


def test_refuses_a_single_class_and_an_unknown_mode():
    with pytest.raises(InputError, match="k must be at least 2"):
        noise.symmetric(torch.tensor([0]), 0.0, 1)
    with pytest.raises(InputError, match="did you mean 'exact'"):
        noise.symmetric(torch.tensor([0]), 0.2, 3, mode="exakt")


def test_apl_refuses_a_class_smaller_than_its_quota():
    with pytest.raises(InputError, match='takes 40 samples from every class, but class 1 has 3; use mode "exact"'):
        noise.symmetric(torch.tensor([0] * 197 + [1] * 3), 0.4, 2, mode="apl")


def test_accepts_numpy_labels_of_eight_bits():
    labels = torch.arange(4).repeat(25).to(torch.uint8).numpy()
    assert noise.symmetric(labels, 0.2, 4).per_class == (0.2,) * 4

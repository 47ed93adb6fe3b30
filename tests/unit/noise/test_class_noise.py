"""Mirror of src/anchored/noise/_class_noise.py: exact rates, targets, rows as asked, published shares, refusals."""

import math

import pytest
import torch

from anchored import InputError, noise
from anchored.noise import MAPPINGS

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


def test_symmetric_noise_accepts_numpy_labels_of_eight_bits():
    labels = torch.arange(4).repeat(25).to(torch.uint8).numpy()
    assert noise.symmetric(labels, 0.2, 4).per_class == (0.2,) * 4


@pytest.fixture
def cifar10():
    return torch.arange(10).repeat(5000)


@pytest.mark.parametrize("eta", [0.1, 0.2, 0.3, 0.4])
def test_cats_and_dogs_are_flipped_at_the_same_rate(cifar10, eta):
    receipt = noise.asymmetric(cifar10, eta, "cifar10")
    sources = MAPPINGS["cifar10"].targets
    assert receipt.per_class == tuple(eta if c in sources else 0.0 for c in range(10))
    for source, target in sources.items():
        assert receipt.matrix[source, target].item() == pytest.approx(eta)


def test_class_by_class_in_place_loses_cats(cifar10):
    generator = torch.Generator().manual_seed(0)
    receipt = noise.asymmetric(cifar10, 0.4, "cifar10", mode="apl_sequential", generator=generator)
    wrong = torch.bincount(cifar10[receipt.flipped], minlength=10).tolist()
    # 2000 cats become dogs; then 2800 of the 7000 dogs are drawn, of which 800 are cats and go back (sd 21).
    assert abs(wrong[3] - 1200) < 110
    assert abs(wrong[5] - 2000) < 110
    assert wrong[3] == 2000 - (2800 - wrong[5])
    assert [wrong[c] for c in (9, 2, 4)] == [2000] * 3
    with pytest.raises(RuntimeError, match=r"class 3 was asked for noise 0\.4000"):
        receipt.check()


def test_iid_flips_each_sample_for_itself(cifar10):
    receipt = noise.asymmetric(cifar10, 0.4, "cifar10", mode="iid").check()
    assert receipt.per_class[3] != 0.4
    assert receipt.per_class[0] == 0


def test_cifar100_noise_stays_in_the_superclass():
    clean = torch.arange(100).repeat(500)
    receipt = noise.asymmetric(clean, 0.4, "cifar100")
    assert receipt.rate == 0.4
    assert {(a, b) for a, b in receipt.counts.nonzero().tolist() if a != b} == set(MAPPINGS["cifar100"].targets.items())


def test_number_of_classes_is_inferred_or_given():
    labels = torch.tensor([0, 1, 1])
    assert noise.asymmetric(labels, 0.2, {1: 4}).k == 5
    assert noise.asymmetric(labels, 0.2, {1: 0}).k == 2
    assert noise.asymmetric(labels, 0.2, {1: 0}, k=7).matrix.shape == (7, 7)


@pytest.mark.parametrize(
    ("mapping", "rule"),
    [
        ({1: 1}, "another one, got 1 -> 1; leave 1 out"),
        ({1: 10}, r"between 0 and 9, got 10; there are k = 10"),
        ({-1: 2}, "between 0 and 9, got -1"),
        ({0.5: 1}, "whole number"),
        ({}, "at least one"),
        ("cifar", "unknown mapping 'cifar'; did you mean 'cifar10'"),
    ],
)
def test_refuses_a_mapping_that_is_none(mapping, rule):
    with pytest.raises(InputError, match=rule):
        noise.asymmetric(torch.arange(10), 0.2, mapping, k=None if isinstance(mapping, str) else 10)


@pytest.mark.parametrize("eta", [0.5, 1.0, -0.1])
def test_refuses_a_rate_of_half_or_more(eta):
    with pytest.raises(InputError, match=r"eta must lie in \[0, 0\.5\), got .* wrong label at least as often"):
        noise.asymmetric(torch.arange(10), eta, "mnist")


def test_refuses_labels_beyond_the_named_data_set():
    with pytest.raises(InputError, match=r"in 0\.\.9, got values from 0 to 99"):
        noise.asymmetric(torch.arange(100), 0.2, "cifar10")


def test_sequential_counts_agree_with_a_plain_loop():
    clean = torch.tensor([0] * 50 + [1] * 30 + [2] * 20)
    receipt = noise.apl_sequential(clean, 0.3, {0: 1, 1: 2, 2: 0})
    sizes = [50, 30, 20]
    for source, target in ((0, 1), (1, 2), (2, 0)):
        moved = int(sizes[source] * 3 / 10)
        sizes[source] -= moved
        sizes[target] += moved
    assert torch.bincount(receipt.labels).tolist() == sizes


def test_sequential_is_the_mode_of_the_same_name():
    clean = torch.arange(10).repeat(100)
    a = noise.apl_sequential(clean, 0.4, generator=torch.Generator().manual_seed(5))
    b = noise.asymmetric(clean, 0.4, "cifar10", mode="apl_sequential", generator=torch.Generator().manual_seed(5))
    assert torch.equal(a.labels, b.labels)
    assert a.procedure == b.procedure == "asymmetric (cifar10, apl_sequential)"


def test_order_matters_only_where_one_source_is_another_ones_target():
    clean = torch.arange(4).repeat(100)
    receipt = noise.apl_sequential(clean, 0.4, {0: 1, 2: 3})
    assert receipt.per_class == (0.4, 0.0, 0.4, 0.0)


def test_index_blocks_never_leave_their_block_of_five():
    clean = torch.arange(100).repeat(500)
    receipt = noise.index_blocks(clean, 0.4).check()
    assert torch.equal(receipt.labels // 5, clean // 5)
    assert torch.equal(receipt.labels[receipt.flipped] % 5, (clean[receipt.flipped] + 1) % 5)


def test_realised_rows_follow_the_matrix():
    matrix = torch.rand(6, 6, generator=torch.Generator().manual_seed(0)).double()
    matrix = matrix / matrix.sum(dim=1, keepdim=True)
    n = 30_000
    receipt = noise.transition(torch.arange(6).repeat_interleave(n), matrix).check()
    chi_square = (n * (receipt.matrix - matrix) ** 2 / matrix).sum().item()  # 30 degrees of freedom
    assert 5 < chi_square < 75


def test_the_identity_matrix_changes_nothing():
    labels = torch.randint(7, (1000,), generator=torch.Generator().manual_seed(0))
    assert torch.equal(noise.transition(labels, torch.eye(7)).labels, labels)


def test_a_label_of_probability_zero_is_never_drawn():
    # Thirds do not sum to one in doubles, so a careless last step would leave room behind the last possible label.
    row = torch.tensor([0.0, 1 / 3, 1 / 3, 1 / 3, 0.0]).double()
    receipt = noise.transition(torch.full((200_000,), 4), row.expand(5, 5))
    assert torch.bincount(receipt.labels, minlength=5)[[0, 4]].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("matrix", "rule"),
    [
        (torch.ones(2, 3), r"square \(k, k\) with k >= 2, got shape \(2, 3\)"),
        (torch.ones(1, 1), "k >= 2"),
        (torch.tensor([[1.5, -0.5], [0.0, 1.0]]), "smallest entry of -0.5"),
        (torch.tensor([[1.0, 0.0], [0.5, 0.4]]), "row 1 with sum 0.9; divide each row by its sum"),
        (torch.tensor([[1.0, 0.0], [math.nan, 1.0]]), "row 1 with sum nan"),
    ],
)
def test_refuses_what_is_no_transition(matrix, rule):
    with pytest.raises(InputError, match=rule):
        noise.transition(torch.tensor([0, 1]), matrix)

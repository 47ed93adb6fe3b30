"""Mirror of src/anchored/noise/_asymmetric.py: rates per source class, targets, and every refusal."""

import pytest
import torch

from anchored import InputError, noise
from anchored.noise import MAPPINGS


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

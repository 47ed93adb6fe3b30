"""Mirror of src/anchored/losses/class_balanced.py: the published formula, its two limits, its refusals."""

import pytest
import torch

from anchored import InputError
from anchored.losses import class_balanced_weights

CIFAR10 = [5000, 2997, 1796, 1077, 645, 387, 232, 139, 83, 50]


@pytest.mark.parametrize("beta", [0.9, 0.99, 0.999, 0.9999])
def test_agrees_with_the_published_formula(beta):
    inverse = [(1 - beta) / (1 - beta**n) for n in CIFAR10]
    expected = [value / sum(inverse) * 10 for value in inverse]
    assert class_balanced_weights(CIFAR10, beta).tolist() == pytest.approx(expected, rel=1e-5)


def test_no_overlap_gives_equal_weights():
    assert class_balanced_weights(CIFAR10, 0.0).tolist() == pytest.approx([1.0] * 10)


def test_beta_near_one_gives_weights_inverse_to_the_counts():
    inverse = 1 / torch.tensor(CIFAR10).double()
    expected = (inverse * 10 / inverse.sum()).float()
    torch.testing.assert_close(class_balanced_weights(CIFAR10, 1 - 1e-12), expected)


def test_refuses_an_absent_class_and_a_beta_that_is_none():
    with pytest.raises(InputError, match="counts must be positive, got 0 for class 2"):
        class_balanced_weights([5, 3, 0])
    for beta in (1.0, -0.1):
        with pytest.raises(InputError, match=r"beta must lie in \[0, 1\)"):
            class_balanced_weights([5, 3], beta)

"""Mirror of src/anchored/losses/symmetric.py: it is the sum of its two directions."""

import pytest
import torch

from anchored import InputError
from anchored.losses import CrossEntropy, ReverseCrossEntropy, SymmetricCrossEntropy


@pytest.mark.parametrize(("alpha", "beta"), [(0.01, 1.0), (6.0, 0.1), (1.0, 0.0), (0.0, 1.0)])
def test_is_the_sum_of_both_cross_entropies(alpha, beta):
    logits = torch.randn(8, 6, generator=torch.Generator().manual_seed(0))
    target = torch.arange(8) % 6
    both = alpha * CrossEntropy() + beta * ReverseCrossEntropy()
    loss = SymmetricCrossEntropy(alpha, beta)
    torch.testing.assert_close(loss(logits, target), both(logits, target))
    assert (loss.symmetric, loss.bounded) == (both.symmetric, both.bounded)


def test_refuses_factors_that_are_none():
    with pytest.raises(InputError, match="alpha must lie in"):
        SymmetricCrossEntropy(-1.0)
    with pytest.raises(InputError, match="alpha and beta must not both be 0"):
        SymmetricCrossEntropy(0.0, 0.0)

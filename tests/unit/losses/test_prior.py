"""Mirror of src/anchored/losses/prior.py: the prior as training sees it, its two ends."""

import pytest
import torch
import torch.nn.functional as F
from tests.builders import batch as make_batch

from anchored import InputError
from anchored.losses import BalancedSoftmax, LogitAdjusted

COUNTS = [500, 40, 5]


@pytest.fixture
def batch():
    return make_batch(12, 3)


def test_balanced_softmax_adds_the_log_counts(batch):
    logits, target = batch
    expected = F.cross_entropy(logits + torch.tensor(COUNTS).log(), target)
    torch.testing.assert_close(BalancedSoftmax(COUNTS)(logits, target), expected)


def test_logit_adjustment_is_balanced_softmax_at_one_and_cross_entropy_at_zero(batch):
    torch.testing.assert_close(LogitAdjusted(COUNTS, tau=1.0)(*batch), BalancedSoftmax(COUNTS)(*batch))
    torch.testing.assert_close(LogitAdjusted(COUNTS, tau=0.0)(*batch), F.cross_entropy(*batch))


def test_equal_counts_are_cross_entropy(batch):
    torch.testing.assert_close(BalancedSoftmax([9, 9, 9])(*batch), F.cross_entropy(*batch))


def test_it_is_least_where_the_adjusted_probabilities_are_the_prior():
    # Without any feature, the best constant logits are equal ones: the prior is not learned twice.
    logits = torch.zeros(1, 3, dtype=torch.float64, requires_grad=True)
    prior = torch.tensor(COUNTS).double() / sum(COUNTS)
    BalancedSoftmax(COUNTS)(logits, prior[None]).backward()
    assert logits.grad.abs().max() < 1e-7


def test_refuses_a_tau_that_is_none():
    with pytest.raises(InputError, match=r"tau must lie in \[0, inf\)"):
        LogitAdjusted(COUNTS, tau=-1)

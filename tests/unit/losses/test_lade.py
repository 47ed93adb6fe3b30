"""Mirror of src/anchored/losses/lade.py: what each sample carries, absent classes, weights, and its optimum."""

import math

import pytest
import torch
from tests.builders import batch as make_batch

from anchored import InputError
from anchored.losses import LADE, BalancedSoftmax

COUNTS = [30, 15, 5]


@pytest.fixture
def batch():
    return make_batch(12, 3)


def test_the_mean_is_the_published_sum(batch):
    logits, target = batch
    loss = LADE(COUNTS, alpha=0.5)
    everyone = torch.ones(12, dtype=torch.bool)
    regulariser = loss.regulariser(logits, torch.eye(3)[target], everyone)
    torch.testing.assert_close(loss(logits, target), BalancedSoftmax(COUNTS)(logits, target) + 0.5 * regulariser)


def test_class_weights_leave_the_regulariser_alone(batch):
    weight = [1.0, 2.0, 5.0]
    difference = LADE(COUNTS, weight=weight)(*batch) - BalancedSoftmax(COUNTS, weight=weight)(*batch)
    torch.testing.assert_close(difference, LADE(COUNTS)(*batch) - BalancedSoftmax(COUNTS)(*batch))


def test_a_class_absent_from_the_batch_has_no_first_term():
    logits = torch.zeros(2, 3)
    # T1 = 0 and T2 = -log(3 pi) for every class, present or not.
    prior = [count / 50 for count in COUNTS]
    expected = sum(p * (-math.log(3 * p) + 0.01 * math.log(3 * p) ** 2) for p in prior)
    mass = torch.eye(3)[torch.tensor([0, 0])]
    got = LADE(COUNTS).regulariser(logits, mass, torch.ones(2, dtype=torch.bool))
    assert got.item() == pytest.approx(expected, rel=1e-5)


def test_large_logits_do_not_overflow():
    assert torch.isfinite(LADE(COUNTS)(torch.full((4, 3), 500.0), torch.tensor([0, 1, 2, 0])))


def test_refuses_factors_that_are_none():
    with pytest.raises(InputError, match="alpha must lie in"):
        LADE(COUNTS, alpha=-1)
    with pytest.raises(InputError, match="penalty must lie in"):
        LADE(COUNTS, penalty=math.nan)

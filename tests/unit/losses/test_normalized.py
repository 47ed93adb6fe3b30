"""Mirror of src/anchored/losses/normalized.py: a share of one, settings taken over, and what cannot be normalised."""

import pytest
import torch
from tests.builders import batch as make_batch

from anchored import InputError
from anchored.losses import LADE, CrossEntropy, DotRegression, Focal, MeanAbsoluteError, NegativeSampleLogit, Normalized


@pytest.fixture
def batch():
    return make_batch(8, 5, dtype=torch.float64)


def test_normalised_cross_entropy_is_a_quotient_of_log_probabilities(batch):
    logits, target = batch
    log_p = logits.log_softmax(dim=1)
    expected = log_p.gather(1, target[:, None]).squeeze(1) / log_p.sum(dim=1)
    torch.testing.assert_close(Normalized(CrossEntropy()).pointwise(logits, target), expected)


def test_normalising_twice_is_normalising_once(batch):
    once = Normalized(Focal(0.5))
    torch.testing.assert_close(Normalized(once)(*batch), once(*batch))


def test_a_factor_before_normalising_is_lost(batch):
    torch.testing.assert_close(Normalized(7 * CrossEntropy())(*batch), Normalized(CrossEntropy())(*batch))


def test_the_shift_invariance_is_that_of_the_loss():
    assert Normalized(MeanAbsoluteError()).shift_invariant
    assert not Normalized(DotRegression()).shift_invariant


def test_takes_its_settings_from_the_loss_unless_told_otherwise():
    inner = CrossEntropy(weight=[1.0, 2.0], reduction="none", ignore_index=7)
    taken = Normalized(inner)
    assert (taken.weight.tolist(), taken.reduction, taken.ignore_index) == ([1.0, 2.0], "none", 7)
    told = Normalized(inner, weight=[3.0, 4.0], reduction="sum", ignore_index=1)
    assert (told.weight.tolist(), told.reduction, told.ignore_index) == ([3.0, 4.0], "sum", 1)


def test_refuses_what_may_be_negative_and_what_is_no_loss():
    for loss in (NegativeSampleLogit(), LADE([2, 1])):
        with pytest.raises(InputError, match="only a loss that is never negative can be normalised"):
            Normalized(loss)
    with pytest.raises(InputError, match="only a loss can be normalised"):
        Normalized(torch.nn.CrossEntropyLoss())

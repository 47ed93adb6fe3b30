"""Mirror of src/anchored/losses/combination.py: sums are flat, linear, and speak with one voice on settings."""

import pytest
import torch
import torch.nn.functional as F
from tests.builders import batch as make_batch

from anchored import InputError
from anchored.losses import (
    LADE,
    CrossEntropy,
    MeanAbsoluteError,
    NegativeSampleLogit,
    Normalized,
    ReverseCrossEntropy,
    Sum,
)


@pytest.fixture
def batch():
    return make_batch(8, 5)


def test_sums_and_products_are_linear(batch):
    ce, mae, nsl = CrossEntropy(), MeanAbsoluteError(), NegativeSampleLogit()
    loss = 2 * (ce + mae * 3) + 0.5 * nsl
    expected = 2 * ce(*batch) + 6 * mae(*batch) + 0.5 * nsl(*batch)
    torch.testing.assert_close(loss(*batch), expected)
    assert loss.factors == (2, 6, 0.5)
    assert [type(term) for term in loss.losses] == [CrossEntropy, MeanAbsoluteError, NegativeSampleLogit]


def test_the_log_softmax_is_shared(batch, monkeypatch):
    calls = []
    log_softmax = F.log_softmax
    monkeypatch.setattr(F, "log_softmax", lambda *args, **kwargs: calls.append(1) or log_softmax(*args, **kwargs))
    (Normalized(CrossEntropy()) + ReverseCrossEntropy() + CrossEntropy())(*batch)
    assert len(calls) == 1


def test_a_term_with_factor_zero_is_absent(batch):
    logits, target = batch
    logits[0, 0] = torch.inf  # would make cross entropy NaN
    loss = 0 * CrossEntropy() + NegativeSampleLogit()
    target[0] = 1
    torch.testing.assert_close(loss(logits, target), NegativeSampleLogit()(logits, target))
    assert not loss.shift_invariant
    assert (0 * CrossEntropy() + MeanAbsoluteError()).bounded


def test_nothing_but_zeros_is_zero(batch):
    logits, target = batch
    (0 * CrossEntropy())(logits.requires_grad_(), target).backward()
    assert (logits.grad == 0).all()


def test_settings_of_the_sum_apply_to_all_terms(batch):
    logits, target = batch
    weight = [0.5, 1.0, 2.0, 3.0, 1.0]
    settings = {"weight": weight, "ignore_index": 1}
    loss = Sum(CrossEntropy(), MeanAbsoluteError(), factors=(1.0, 4.0), **settings)
    expected = CrossEntropy(**settings)(logits, target) + 4 * MeanAbsoluteError(**settings)(logits, target)
    torch.testing.assert_close(loss(logits, target), expected)
    both = CrossEntropy(**settings) + 4 * MeanAbsoluteError(**settings)
    torch.testing.assert_close(both(logits, target), expected)


def test_a_sum_over_the_batch_works_inside_a_sum(batch):
    lade = LADE([5, 4, 3, 2, 1])
    torch.testing.assert_close((lade + CrossEntropy())(*batch), lade(*batch) + CrossEntropy()(*batch))


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (CrossEntropy(reduction="sum"), MeanAbsoluteError(), r"disagree on reduction: \['sum', 'mean'\]"),
        (CrossEntropy(ignore_index=3), MeanAbsoluteError(), "disagree on ignore_index"),
        (CrossEntropy(weight=[1.0, 2.0]), MeanAbsoluteError(), "disagree on weight"),
        (CrossEntropy(weight=[1.0, 2.0]), MeanAbsoluteError(weight=[2.0, 1.0]), "disagree on weight"),
    ],
)
def test_refuses_terms_that_disagree_and_says_where_to_settle_it(first, second, message):
    with pytest.raises(InputError, match=message + r".*Sum\(\.\.\., "):
        first + second


def test_a_disagreement_is_settled_by_the_sum(batch):
    loss = Sum(CrossEntropy(reduction="sum"), MeanAbsoluteError(), reduction="none")
    assert loss(*batch).shape == (8,)


def test_refuses_factors_that_are_none():
    with pytest.raises(InputError, match=r"the factor of a loss must lie in \[0, inf\), got -1"):
        -1 * CrossEntropy()
    with pytest.raises(InputError, match="one number per loss, got 1 for 2"):
        Sum(CrossEntropy(), MeanAbsoluteError(), factors=[1.0])
    with pytest.raises(InputError, match="a sum needs one loss or more"):
        Sum()


def test_shows_its_factors():
    assert "factors=(1, 2.5)" in repr(CrossEntropy() + 2.5 * MeanAbsoluteError())

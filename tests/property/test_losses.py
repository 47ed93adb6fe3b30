"""Losses under hypothesis: invariances, bounds and orders that hold for all logits and parameters."""

import math

import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from anchored.losses import (
    LDAM,
    CrossEntropy,
    DotRegression,
    Focal,
    GeneralizedCrossEntropy,
    MarginSoftmax,
    MeanAbsoluteError,
    NegativeSampleLogit,
    Normalized,
    ReverseCrossEntropy,
    SymmetricCrossEntropy,
    class_balanced_weights,
)

seeds = st.integers(0, 2**16)
spreads = st.floats(0.0, 30.0)
# The first call may load code for a second; a shared machine may pause at any time.
unhurried = settings(deadline=None, max_examples=50)


def draw(seed, spread, n=12, k=6):
    generator = torch.Generator().manual_seed(seed)
    return spread * torch.randn(n, k, generator=generator, dtype=torch.float64), torch.randint(
        k, (n,), generator=generator
    )


@st.composite
def without_class_settings(draw_from):
    q = draw_from(st.floats(0.01, 1.0))
    gamma = draw_from(st.floats(0.0, 5.0))
    first = draw_from(st.sampled_from([CrossEntropy(), Focal(gamma), GeneralizedCrossEntropy(q), MeanAbsoluteError()]))
    second = draw_from(st.sampled_from([ReverseCrossEntropy(), SymmetricCrossEntropy(), DotRegression()]))
    third = draw_from(st.sampled_from([first, Normalized(first), NegativeSampleLogit()]))
    return draw_from(st.sampled_from([first, Normalized(first), Normalized(second), 2 * third + second]))


@unhurried
@given(loss=without_class_settings(), seed=seeds, spread=spreads)
def test_renaming_the_classes_changes_nothing(loss, seed, spread):
    logits, target = draw(seed, spread)
    order = torch.randperm(6, generator=torch.Generator().manual_seed(seed + 1))
    torch.testing.assert_close(
        loss.pointwise(logits[:, order], order.argsort()[target]), loss.pointwise(logits, target), rtol=1e-9, atol=1e-9
    )


@unhurried
@given(loss=without_class_settings(), seed=seeds, spread=spreads)
def test_a_sample_does_not_see_its_neighbours(loss, seed, spread):
    logits, target = draw(seed, spread)
    alone = torch.cat([loss.pointwise(logits[i : i + 1], target[i : i + 1]) for i in range(len(target))])
    torch.testing.assert_close(loss.pointwise(logits, target), alone)


@unhurried
@given(loss=without_class_settings(), seed=seeds, spread=spreads)
def test_the_short_way_agrees_with_the_row(loss, seed, spread):
    logits, target = draw(seed, spread)
    row = loss.per_class(logits)
    torch.testing.assert_close(loss.pointwise(logits, target), row.gather(1, target[:, None]).squeeze(1))


@unhurried
@given(gamma=st.floats(0.0, 5.0), q=st.floats(0.01, 1.0), seed=seeds, spread=spreads)
def test_focal_and_generalised_lie_below_cross_entropy(gamma, q, seed, spread):
    logits, target = draw(seed, spread)
    cross_entropy = CrossEntropy().pointwise(logits, target) + 1e-12
    assert (Focal(gamma).pointwise(logits, target) <= cross_entropy).all()
    assert (GeneralizedCrossEntropy(q).pointwise(logits, target) <= cross_entropy).all()


@unhurried
@given(q=st.floats(0.01, 1.0), seed=seeds, spread=spreads)
def test_the_sum_of_generalised_cross_entropy_stays_inside_its_bound(q, seed, spread):
    k = 6
    total = GeneralizedCrossEntropy(q).per_class(draw(seed, spread, k=k)[0]).sum(dim=1)
    assert (total >= (k - k ** (1 - q)) / q - 1e-9).all()
    assert (total <= (k - 1) / q + 1e-9).all()


@unhurried
@given(loss=without_class_settings(), seed=seeds, spread=spreads)
def test_a_normalised_row_is_a_distribution(loss, seed, spread):
    if loss.nonnegative:
        row = Normalized(loss).per_class(draw(seed, spread)[0])
        assert (row >= 0).all()
        torch.testing.assert_close(row.sum(dim=1), torch.ones(len(row), dtype=torch.float64))


@unhurried
@given(margins=st.lists(st.floats(-1, 1), min_size=6, max_size=6), scale=st.floats(0.1, 30), seed=seeds)
def test_the_margin_row_is_cross_entropy_on_lowered_logits(margins, scale, seed):
    logits, _ = draw(seed, 1.0)
    off = torch.tensor(margins, dtype=torch.float64)
    row = MarginSoftmax(off, scale=scale).per_class(logits)
    for y in range(6):
        lowered = scale * (logits - off[y] * F.one_hot(torch.tensor(y), 6))
        expected = F.cross_entropy(lowered, torch.full((12,), y), reduction="none")
        torch.testing.assert_close(row[:, y], expected)


@unhurried
@given(counts=st.lists(st.integers(1, 10_000), min_size=2, max_size=20), margin=st.floats(0.01, 2.0))
def test_rarer_classes_get_larger_margins(counts, margin):
    margins = LDAM(counts, margin=margin).margins
    order = torch.tensor(counts).argsort()
    assert (margins[order].diff() <= 0).all()
    assert math.isclose(margins.max().item(), margin, rel_tol=1e-6)


@unhurried
@given(counts=st.lists(st.integers(1, 10_000), min_size=2, max_size=20), beta=st.floats(0.0, 0.9999))
def test_class_balanced_weights_sum_to_k_and_favour_the_rare(counts, beta):
    weights = class_balanced_weights(counts, beta)
    assert math.isclose(weights.sum().item(), len(counts), rel_tol=1e-5)
    assert (weights[torch.tensor(counts).argsort()].diff() <= 1e-6).all()


@unhurried
@given(seed=seeds, spread=spreads, q=st.floats(0.01, 1.0), gamma=st.floats(0.0, 4.0))
def test_the_written_slope_is_the_derivative(seed, spread, q, gamma):
    logits, _ = draw(seed, spread)
    for loss in (
        CrossEntropy(),
        Focal(gamma),
        GeneralizedCrossEntropy(q),
        MeanAbsoluteError(),
        SymmetricCrossEntropy(),
    ):
        log_p = logits.log_softmax(dim=1).requires_grad_()
        (expected,) = torch.autograd.grad(loss.value(log_p).sum(), log_p)
        value, slope = loss.value_and_slope(log_p.detach())
        # At p = 1 a small power has a corner, and any slope near zero will do.
        torch.testing.assert_close(slope[log_p < 0], expected[log_p < 0])
        torch.testing.assert_close(value, loss.value(log_p.detach()))

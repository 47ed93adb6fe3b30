"""Metrics under what must not matter: the order of samples, the names of classes, monotone maps, rotations."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from anchored import metrics

seeds = st.integers(0, 2**32)


def batch(seed, n=60, k=6):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(n, k, generator=g, dtype=torch.float64), torch.randint(k, (n,), generator=g), g


@settings(deadline=None, max_examples=50)
@given(seed=seeds, topk=st.integers(1, 6))
def test_accuracy_ignores_the_order_of_samples_and_monotone_maps(seed, topk):
    scores, target, g = batch(seed)
    order = torch.randperm(60, generator=g)
    expected = metrics.accuracy(scores, target, topk)
    assert metrics.accuracy(scores[order], target[order], topk) == pytest.approx(expected)
    assert metrics.accuracy(3 * scores + 1, target, topk) == expected
    assert metrics.accuracy(scores.softmax(dim=1), target, topk) == expected


@settings(deadline=None, max_examples=50)
@given(seed=seeds)
def test_renaming_the_classes_permutes_the_confusion(seed):
    scores, target, g = batch(seed)
    rename = torch.randperm(6, generator=g)
    renamed = torch.empty_like(scores)
    renamed[:, rename] = scores
    table = metrics.confusion(scores, target)
    assert torch.equal(metrics.confusion(renamed, rename[target])[rename][:, rename], table)
    assert table.trace().item() / 60 == pytest.approx(metrics.accuracy(scores, target))


@settings(deadline=None, max_examples=50)
@given(seed=seeds)
def test_more_guesses_are_never_worse(seed):
    scores, target, _ = batch(seed)
    values = [metrics.accuracy(scores, target, topk) for topk in range(1, 7)]
    assert values == sorted(values)
    assert values[-1] == 1


@settings(deadline=None, max_examples=50)
@given(seed=seeds, bins=st.integers(1, 30), sharpness=st.floats(0, 20))
def test_calibration_errors_are_ordered_and_bounded(seed, bins, sharpness):
    scores, target, _ = batch(seed)
    p = (sharpness * scores).softmax(dim=1)
    table = metrics.reliability(p, target, bins)
    overall = abs(p.amax(dim=1).mean().item() - metrics.accuracy(p, target))
    assert overall - 1e-9 <= table.ece <= table.mce + 1e-12  # bins can only uncover what the mean hides
    assert table.mce <= 1
    assert 0 <= metrics.classwise_ece(p, target, bins) <= 1


@settings(deadline=None, max_examples=50)
@given(seed=seeds, shift=st.floats(-100, 100), scale=st.floats(0.01, 100))
def test_margins_ignore_a_shift_and_follow_a_scale(seed, shift, scale):
    logits, target, _ = batch(seed)
    expected = scale * metrics.sample_margins(logits, target)
    torch.testing.assert_close(metrics.sample_margins(scale * logits + shift, target), expected, atol=1e-9, rtol=1e-7)


@settings(deadline=None, max_examples=50)
@given(seed=seeds)
def test_angles_and_scatter_ignore_rotations(seed):
    z, labels, g = batch(seed)
    rotation = torch.linalg.qr(torch.randn(6, 6, generator=g, dtype=torch.float64)).Q
    torch.testing.assert_close(metrics.angles(z[:8] @ rotation), metrics.angles(z[:8]), atol=1e-5, rtol=0)
    turned, straight = metrics.scatter(z @ rotation + 5, labels), metrics.scatter(z, labels)
    assert (turned.within, turned.between) == pytest.approx((straight.within, straight.between))


@settings(deadline=None, max_examples=50)
@given(seed=seeds, sizes=st.lists(st.integers(0, 300), min_size=6, max_size=6))
def test_group_accuracies_average_to_the_overall_one(seed, sizes):
    scores, target, _ = batch(seed)
    got = metrics.shot_accuracy(scores, target, sizes)
    parts = [(got[name], n) for name, n in zip(("many", "medium", "few"), got.classes, strict=False)]
    assert sum(a * n for a, n in parts if a is not None) / got.classes[3] == pytest.approx(got.all)
    assert [a is None for a, _ in parts] == [n == 0 for _, n in parts]

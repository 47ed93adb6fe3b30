"""Mirror of src/anchored/losses/smoothing.py: four published curves, and torch's smoothing where it is uniform."""

import math

import pytest
import torch
import torch.nn.functional as F

from anchored import InputError
from anchored.losses import LabelAwareSmoothing

COUNTS = [500, 300, 80, 10]
HEAD, TAIL = 0.4, 0.1


def published(shape, n):
    """As in the published code, with its own sine for the convex curve."""
    t = (n - 10) / (500 - 10)
    return {
        "concave": TAIL + (HEAD - TAIL) * math.sin(math.pi * t / 2),
        "linear": TAIL + (HEAD - TAIL) * t,
        "convex": HEAD + (HEAD - TAIL) * math.sin(1.5 * math.pi + math.pi * t / 2),
        "exponential": TAIL + (HEAD - TAIL) * t**3,
    }[shape]


@pytest.mark.parametrize("shape", ["concave", "linear", "convex", "exponential"])
def test_the_curve_is_the_published_one(shape):
    loss = LabelAwareSmoothing(COUNTS, smooth_head=HEAD, smooth_tail=TAIL, shape=shape, power=3.0)
    assert loss.smoothing.tolist() == pytest.approx([published(shape, n) for n in COUNTS], abs=1e-6)


def test_the_same_smoothing_for_all_is_torchs():
    logits = torch.randn(9, 4, generator=torch.Generator().manual_seed(0))
    target = torch.arange(9) % 4
    ours = LabelAwareSmoothing(COUNTS, smooth_head=0.2, smooth_tail=0.2)(logits, target)
    torch.testing.assert_close(ours, F.cross_entropy(logits, target, label_smoothing=0.2))


@pytest.mark.parametrize("shape", ["concave", "linear", "convex", "exponential"])
def test_equal_counts_all_get_the_smoothing_of_the_tail(shape):
    loss = LabelAwareSmoothing([7, 7, 7], smooth_head=HEAD, smooth_tail=TAIL, shape=shape)
    assert loss.smoothing.tolist() == pytest.approx([TAIL] * 3)


def test_refuses_settings_that_are_none():
    with pytest.raises(InputError, match="unknown shape 'concav'; did you mean 'concave'"):
        LabelAwareSmoothing(COUNTS, shape="concav")
    with pytest.raises(InputError, match=r"smooth_head must lie in \[0, 1\), got 1.0|smooth_head must lie in"):
        LabelAwareSmoothing(COUNTS, smooth_head=1.0)
    with pytest.raises(InputError, match="smooth_tail must not exceed smooth_head"):
        LabelAwareSmoothing(COUNTS, smooth_head=0.1, smooth_tail=0.2)

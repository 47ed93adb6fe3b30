"""Mirror of src/anchored/losses/margin.py: published margins, the limit without margins, digits near certainty."""

import math

import pytest
import torch
import torch.nn.functional as F

from anchored import InputError
from anchored.losses import LDAM, MarginSoftmax

CIFAR10 = [5000, 2997, 1796, 1077, 645, 387, 232, 139, 83, 50]


def test_margins_are_the_published_ones():
    expected = [0.5 * (50 / n) ** 0.25 for n in CIFAR10]
    torch.testing.assert_close(LDAM(CIFAR10).margins, torch.tensor(expected))


def test_without_margins_it_is_cross_entropy_at_the_scale():
    logits = torch.randn(8, 3, generator=torch.Generator().manual_seed(0))
    target = torch.arange(8) % 3
    torch.testing.assert_close(
        MarginSoftmax([0.0] * 3, scale=30.0)(logits, target), F.cross_entropy(30 * logits, target)
    )


def test_equal_counts_give_equal_margins():
    assert LDAM([7, 7, 7], margin=0.3).margins.tolist() == pytest.approx([0.3] * 3)


def test_margins_are_subtracted_so_they_raise_the_loss():
    logits = torch.zeros(1, 2)
    loss = MarginSoftmax([0.5, -0.5])
    assert loss.per_class(logits)[0, 0] > math.log(2) > loss.per_class(logits)[0, 1]


@pytest.mark.parametrize("gap", [0.55, 0.6, 0.8, 1.0])
def test_the_row_keeps_its_digits_where_the_probability_rounds_to_one(gap):
    # At scale 30 and a margin of 0.5 the odds are raised by e^15, while in float32 p is already 1.
    loss = MarginSoftmax([0.5, 0.5], scale=30.0)
    logits = torch.tensor([[gap, 0.0]])
    expected = math.log1p(math.exp(30 * (0.5 - gap)))
    assert loss.per_class(logits)[0, 0].item() == pytest.approx(expected, rel=1e-4)
    assert loss.pointwise(logits, torch.tensor([0])).item() == pytest.approx(expected, rel=1e-4, abs=1e-7)


def test_refuses_margins_and_counts_that_are_none():
    with pytest.raises(InputError, match="one finite number per class"):
        MarginSoftmax([0.1, math.inf])
    with pytest.raises(InputError, match="scale must lie in"):
        MarginSoftmax([0.1, 0.2], scale=0)
    with pytest.raises(InputError, match="counts must be positive, got 0 for class 1"):
        LDAM([5, 0])
    with pytest.raises(InputError, match="margin must lie in"):
        LDAM([5, 3], margin=-0.5)
    for target in (torch.tensor([0]), torch.full((1, 3), 1 / 3)):
        with pytest.raises(InputError, match=r"margins must hold one entry per class: got 2 for logits \(1, 3\)"):
            LDAM([5, 3])(torch.zeros(1, 3), target)


def test_shows_its_settings():
    assert repr(LDAM([5, 3])) == "LDAM(margin=0.5, scale=30)"

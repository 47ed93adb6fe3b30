"""Mirror of src/anchored/heads/cosine.py: cosines, blind to lengths, with rows that are trained."""

import math

import pytest
import torch
import torch.nn.functional as F

from anchored._errors import InputError
from anchored.heads import CosineHead


@pytest.fixture
def features():
    return torch.randn(16, 12, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_agrees_with_torchs_cosine(features):
    head = CosineHead(12, 5, scale=30.0).double()
    with torch.no_grad():
        head.weight *= torch.arange(1, 6)[:, None]
    expected = 30.0 * F.cosine_similarity(features[:, None, :], head.weight[None, :, :], dim=2)
    torch.testing.assert_close(head(features), expected)


def test_starts_with_unit_rows_drawn_from_a_cube():
    weight = CosineHead(2000, 50, generator=torch.Generator().manual_seed(3)).weight
    torch.testing.assert_close(weight.norm(dim=1), torch.ones(50))
    # uniform(-1, 1) entries divided by their length sqrt(d / 3): flat, not bell-shaped (fourth moment 9/5, not 3)
    scaled = weight.detach() * math.sqrt(2000)
    assert scaled.abs().max() == pytest.approx(math.sqrt(3), rel=0.05)
    assert (scaled**4).mean() == pytest.approx(1.8, rel=0.02)


def test_the_gradient_turns_a_row_and_does_not_stretch_it(features):
    head = CosineHead(12, 5, scale=10.0).double()
    F.cross_entropy(head(features), torch.arange(16) % 5).backward()
    assert head.weight.grad.abs().max() > 1e-3
    assert (head.weight * head.weight.grad).sum(dim=1).abs().max() < 1e-12


def test_the_default_scale_leaves_the_cosine_as_it_is(features):
    logits = CosineHead(12, 5).double()(features)
    assert logits.abs().max() <= 1


@pytest.mark.parametrize("scale", [0, -2.0, math.nan])
def test_refuses_a_scale_that_is_not_positive(scale):
    with pytest.raises(InputError, match="scale must lie in"):
        CosineHead(12, 5, scale=scale)

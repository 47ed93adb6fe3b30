"""Mirror of src/anchored/losses/generalized.py: its two ends, the gradient of a confident mistake, its refusals."""

import math

import pytest
import torch
import torch.nn.functional as F
from tests.builders import batch as make_batch

from anchored import InputError
from anchored.losses import GeneralizedCrossEntropy, MeanAbsoluteError


@pytest.fixture
def batch():
    return make_batch(32, 7, scale=3.0, dtype=torch.float64)


def test_small_q_is_cross_entropy(batch):
    torch.testing.assert_close(GeneralizedCrossEntropy(1e-9)(*batch), F.cross_entropy(*batch))


def test_q_of_one_is_absolute_error(batch):
    torch.testing.assert_close(GeneralizedCrossEntropy(1.0)(*batch), MeanAbsoluteError()(*batch))


def test_only_q_of_one_is_symmetric():
    assert GeneralizedCrossEntropy(1.0).symmetric
    assert not GeneralizedCrossEntropy(0.999).symmetric


def test_a_confident_mistake_still_pulls():
    logits = torch.tensor([[0.0, 40.0]], requires_grad=True)
    GeneralizedCrossEntropy(0.7)(logits, torch.tensor([0])).backward()
    # The slope is -p^q (1 - p) with p = e^-40; a clamp of p at 1e-7 would make it 0.
    assert math.isclose(logits.grad[0, 0].item(), -math.exp(-28), rel_tol=1e-4)


@pytest.mark.parametrize("q", [0.0, -0.1, 1.5, math.nan])
def test_refuses_a_q_outside_the_interval(q):
    with pytest.raises(InputError, match=r"q must lie in \(0, 1\], got .*; for q = 0 use CrossEntropy"):
        GeneralizedCrossEntropy(q)


def test_shows_its_settings():
    assert repr(GeneralizedCrossEntropy(0.5)) == "GeneralizedCrossEntropy(q=0.5)"

"""Mirror of src/anchored/losses/dot_regression.py: half the squared distance from a cosine of 1."""

import pytest
import torch

from anchored import InputError
from anchored.losses import DotRegression


def test_is_zero_at_the_prototype_and_two_at_its_opposite():
    cosines = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    assert DotRegression().pointwise(cosines, torch.zeros(3).long()).tolist() == [0.0, 2.0, 0.5]


def test_scaled_logits_give_the_scaled_loss():
    cosines = torch.tensor([[0.3, -0.2]])
    torch.testing.assert_close(DotRegression(5.0).per_class(5 * cosines), 5 * DotRegression().per_class(cosines))


def test_the_other_logits_get_no_gradient():
    logits = torch.zeros(1, 3, requires_grad=True)
    DotRegression()(logits, torch.tensor([1])).backward()
    assert logits.grad.tolist() == [[0.0, -1.0, 0.0]]


def test_refuses_a_scale_that_is_none():
    with pytest.raises(InputError, match="scale must lie in"):
        DotRegression(0.0)

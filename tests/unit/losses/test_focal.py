"""Mirror of src/anchored/losses/focal.py: its end at gamma = 0, the two gradients, the sharp corner at p = 1."""

import math

import pytest
import torch
import torch.nn.functional as F
from tests.builders import batch as make_batch

from anchored import InputError
from anchored.losses import Focal


@pytest.fixture
def batch():
    return make_batch(16, 5, dtype=torch.float64)


def test_without_gamma_it_is_cross_entropy(batch):
    torch.testing.assert_close(Focal(0.0)(*batch), F.cross_entropy(*batch))


def test_detaching_keeps_the_value_and_drops_a_part_of_the_gradient(batch):
    logits, target = batch
    logits.requires_grad_()
    assert torch.equal(Focal(0.5)(logits, target), Focal(0.5, detach=True)(logits, target))
    p = logits.softmax(dim=1).gather(1, target[:, None]).squeeze(1)
    held = ((1 - p.detach()) ** 0.5 * -p.log()).mean()
    whole = ((1 - p) ** 0.5 * -p.log()).mean()
    for expected, loss in [(held, Focal(0.5, detach=True)), (whole, Focal(0.5))]:
        (by_hand,) = torch.autograd.grad(expected, logits, retain_graph=True)
        (ours,) = torch.autograd.grad(loss(logits, target), logits)
        torch.testing.assert_close(ours, by_hand)


@pytest.mark.parametrize("gamma", [0.1, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_certain_sample_has_no_loss_and_no_gradient(gamma, dtype):
    logits = torch.tensor([[900.0, 0.0]], dtype=dtype, requires_grad=True)
    value = Focal(gamma)(logits, torch.tensor([0]))
    value.backward()
    assert value == 0
    assert (logits.grad == 0).all()
    _, slope = Focal(gamma).value_and_slope(torch.zeros(1, dtype=dtype))
    assert slope.abs().item() < 1e-3


def test_a_sample_that_is_nearly_certain_keeps_its_digits():
    rest = 1e-12
    log_p = torch.tensor([math.log1p(-rest)], dtype=torch.float64)
    expected = rest**0.5 * rest
    assert math.isclose(Focal(0.5).value(log_p).item(), expected, rel_tol=1e-9)


@pytest.mark.parametrize("gamma", [-0.1, math.inf, math.nan, "2"])
def test_refuses_a_gamma_that_is_none(gamma):
    with pytest.raises(InputError, match="gamma must lie in"):
        Focal(gamma)


def test_shows_its_settings():
    assert repr(Focal(2.0, detach=True, reduction="sum")) == "Focal(gamma=2.0, detach=True, reduction='sum')"

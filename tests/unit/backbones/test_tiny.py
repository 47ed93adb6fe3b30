"""Mirror of src/anchored/backbones/tiny.py: any size, few parameters, gradients that average over samples."""

import pytest
import torch

from anchored import InputError
from anchored.backbones.tiny import tiny


@pytest.mark.parametrize("shape", [(1,), (500,), (1, 1, 1), (3, 2, 9), (1, 8, 8), (1, 28, 28), (3, 224, 224)])
def test_takes_any_size_and_stays_small(shape):
    net = tiny(shape)
    assert net(torch.zeros(2, *shape)).shape == (2, 32)
    assert sum(p.numel() for p in net.parameters()) < 20_000


@pytest.mark.parametrize("shape", [(6,), (1, 8, 8)])
def test_the_gradient_of_a_batch_is_the_mean_over_its_halves(shape):
    net = tiny(shape).double()
    batch = torch.randn(8, *shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)

    def gradients(part):
        return torch.autograd.grad(net(part).square().mean(), list(net.parameters()))

    for whole, first, second in zip(gradients(batch), gradients(batch[:4]), gradients(batch[4:]), strict=True):
        torch.testing.assert_close(whole, (first + second) / 2)


def test_the_feature_dimension_can_be_chosen():
    assert tiny((4,), feature_dim=7)(torch.zeros(2, 4)).shape == (2, 7)
    with pytest.raises(InputError, match="feature_dim must be at least 1, got 0"):
        tiny((4,), feature_dim=0)

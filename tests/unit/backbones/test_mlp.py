"""Mirror of src/anchored/backbones/mlp.py: matrices by hand, flattening, the refusals."""

import pytest
import torch
from torch import nn

from anchored import InputError
from anchored.backbones.mlp import MLP, check_widths, mlp


@pytest.mark.parametrize("last_relu", [True, False])
def test_is_matrices_and_maxima(last_relu):
    net = mlp((5,), hidden=(4, 3), last_relu=last_relu)
    x = torch.randn(6, 5, generator=torch.Generator().manual_seed(0))
    w1, b1, w2, b2 = net.parameters()
    expected = (x @ w1.T + b1).clamp(min=0) @ w2.T + b2
    torch.testing.assert_close(net(x), expected.clamp(min=0) if last_relu else expected)


def test_has_no_batch_norm_unless_asked():
    assert not any(isinstance(layer, nn.BatchNorm1d) for layer in mlp((5,)).modules())
    names = [type(layer).__name__ for layer in mlp((5,), hidden=(4, 3), batch_norm=True).layers]
    assert names == ["Flatten", "Linear", "BatchNorm1d", "ReLU", "Linear", "BatchNorm1d", "ReLU"]


def test_images_are_flattened():
    net, images = mlp((2, 3, 4), hidden=(5,)), torch.rand(6, 2, 3, 4, generator=torch.Generator().manual_seed(0))
    assert torch.equal(net(images), net(images.flatten(1)))


def test_trains_on_a_single_row():
    assert mlp((5,)).train()(torch.zeros(1, 5)).shape == (1, 128)


@pytest.mark.parametrize("hidden", [(), [], 128, "128", None])
def test_refuses_no_layers(hidden):
    with pytest.raises(InputError, match=r"hidden must list at least one width.*write \(256, 128\)"):
        check_widths(hidden)


@pytest.mark.parametrize("hidden", [(0,), (8, -1), (2.5,), ("8",)])
def test_refuses_widths_that_are_no_whole_numbers(hidden):
    with pytest.raises(InputError, match="every entry of hidden must be"):
        MLP((5,), hidden=hidden)

"""Mirror of src/anchored/backbones/resnet_cifar.py: layout, shortcuts, laws."""

import math

import pytest
import torch
from torch import nn

from anchored import InputError
from anchored.backbones.resnet import PadShortcut
from anchored.backbones.resnet_cifar import resnet32, resnet34


def test_resnet32_has_31_convolutions_and_no_shortcut_with_weights():
    net = resnet32((3, 32, 32))
    convolutions = [layer for layer in net.modules() if isinstance(layer, nn.Conv2d)]
    assert len(convolutions) == 31  # with the head, 32 layers
    assert all(layer.kernel_size == (3, 3) and layer.bias is None for layer in convolutions)
    shortcuts = [layer for layer in net.modules() if isinstance(layer, PadShortcut)]
    assert [(layer.stride, layer.before, layer.after) for layer in shortcuts] == [(2, 8, 8), (2, 16, 16)]


def test_resnet32_is_drawn_from_a_normal_law_by_fan_in():
    layers = [layer for layer in resnet32((3, 32, 32)).modules() if isinstance(layer, nn.Conv2d)]
    large = [layer for layer in layers if layer.weight.numel() > 5000]
    assert large
    for layer in large:
        fan_in = layer.in_channels * 9
        assert float(layer.weight.detach().std()) == pytest.approx(math.sqrt(2 / fan_in), rel=0.05)
        assert float(layer.weight.detach().abs().max()) > math.sqrt(6 / fan_in)  # so it is not the uniform law


def test_resnet32_of_other_widths_keeps_its_layout():
    net = resnet32((3, 8, 8), widths=[16, 24, 48])
    shortcuts = [layer for layer in net.modules() if isinstance(layer, PadShortcut)]
    assert [(layer.before, layer.after) for layer in shortcuts] == [(4, 4), (12, 12)]
    assert net(torch.zeros(2, 3, 8, 8)).shape == (2, 48)


@pytest.mark.parametrize("widths", [(16, 32), (64, 32, 16), "big", 3, (16, 0, 8)])
def test_resnet32_refuses_widths_that_its_shortcuts_cannot_reach(widths):
    with pytest.raises(InputError, match="widths"):
        resnet32((3, 8, 8), widths=widths)


def test_resnet34_has_33_convolutions_and_three_projections():
    with torch.device("meta"):
        net = resnet34((3, 32, 32))
        assert net.feature_map(torch.zeros(1, 3, 32, 32)).shape == (1, 512, 4, 4)
    kernels = [layer.kernel_size[0] for layer in net.modules() if isinstance(layer, nn.Conv2d)]
    assert (kernels.count(3), kernels.count(1)) == (33, 3)
    assert isinstance(net.maxpool, nn.Identity)


def test_resnet34_is_drawn_from_the_uniform_law():
    weight = resnet34((3, 8, 8)).get_parameter("layer4.2.conv2.weight")
    bound = math.sqrt(6 / (512 * 9))
    assert float(weight.detach().abs().max()) == pytest.approx(bound, rel=1e-3)
    assert float(weight.detach().std()) == pytest.approx(bound / math.sqrt(3), rel=1e-2)


def test_resnet32_keeps_its_maps_then_halves_them_twice():
    assert resnet32((3, 32, 32)).eval().feature_map(torch.zeros(1, 3, 32, 32)).shape == (1, 64, 8, 8)

"""Mirror of src/anchored/backbones/resnet.py: shortcuts and blocks by hand, the maps, the names of torchvision."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from anchored.backbones import BasicBlock, Bottleneck, ResNet
from anchored.backbones.resnet import PadShortcut, stage, zero_last_norm_


def maps(channels=4, side=6):
    return torch.randn(2, channels, side, side, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(("before", "after", "side"), [(16, 32, 8), (32, 64, 7), (16, 24, 8), (2, 5, 3)])
def test_the_shortcut_without_parameters_drops_pixels_and_adds_zero_channels(before, after, side):
    x = maps(before, side)
    short = PadShortcut(before, after, stride=2)(x)
    first = (after - before) // 2
    assert short.shape == (2, after, -(-side // 2), -(-side // 2))
    for channel in range(after):
        old = channel - first
        expected = x[:, old, ::2, ::2] if 0 <= old < before else torch.zeros(())
        assert (short[:, channel] == expected).all()
    if after == 2 * before:
        assert first == after // 4  # as the reference writes it


@pytest.mark.parametrize("last_relu", [True, False])
@pytest.mark.parametrize("shortcut", ["projection", "pad"])
@pytest.mark.parametrize("stride", [1, 2])
def test_a_basic_block_is_a_residual_beside_its_shortcut(stride, shortcut, last_relu):
    x, block = maps(), BasicBlock(4, 8, stride, shortcut=shortcut, last_relu=last_relu).eval()
    inner = F.relu(F.conv2d(x, block.conv1.weight, stride=stride, padding=1) / (1 + 1e-5) ** 0.5)
    residual = F.conv2d(inner, block.conv2.weight, padding=1) / (1 + 1e-5) ** 0.5
    if shortcut == "pad":
        short = F.pad(x[:, :, ::stride, ::stride], (0, 0, 0, 0, 2, 2))
    else:
        short = F.conv2d(x, block.downsample[0].weight, stride=stride) / (1 + 1e-5) ** 0.5
    expected = F.relu(residual + short) if last_relu else residual + short
    torch.testing.assert_close(block(x), expected)


def test_a_bottleneck_strides_in_its_middle():
    block = Bottleneck(64, 256, 2)
    assert [block.conv1.stride, block.conv2.stride, block.conv3.stride] == [(1, 1), (2, 2), (1, 1)]
    assert [block.conv1.out_channels, block.conv2.out_channels, block.conv3.out_channels] == [64, 64, 256]


@pytest.mark.parametrize(("out_channels", "inner"), [(256, 128), (512, 256), (1024, 512), (2048, 1024)])
def test_a_resnext_block_has_32_groups_of_a_growing_width(out_channels, inner):
    block = Bottleneck(64, out_channels, groups=32, base_width=4)
    assert block.conv2.out_channels == inner
    assert block.conv2.weight.shape[1] == inner // 32


def test_equal_shapes_need_no_shortcut():
    assert isinstance(BasicBlock(4, 4).downsample, nn.Identity)
    assert isinstance(Bottleneck(4, 4).downsample, nn.Identity)


def test_only_the_last_block_of_a_stage_loses_its_relu():
    blocks = stage(BasicBlock, 4, 8, depth=3, stride=2, last_relu=False)
    assert [isinstance(block.last, nn.ReLU) for block in blocks] == [True, True, False]
    assert [block.conv1.stride[0] for block in blocks] == [2, 1, 1]


def small(**options):
    return ResNet((3, 16, 16), block=BasicBlock, depths=(1, 2), widths=(4, 8), stem_width=4, **options)


def test_features_are_the_mean_of_the_maps():
    net, images = small(stem="small").eval(), maps(3, 16)
    assert net.feature_map(images).shape == (2, 8, 8, 8)
    torch.testing.assert_close(net(images), F.adaptive_avg_pool2d(net.feature_map(images), 1).flatten(1))


def test_the_large_stem_quarters_the_image():
    assert small(stem="large").feature_map(maps(3, 32)).shape == (2, 8, 4, 4)


def test_other_sizes_than_the_declared_one_pass():
    assert small(stem="small")(maps(3, 20)).shape == (2, 8)


def test_layers_carry_the_names_of_torchvision():
    keys = list(small(stem="large").state_dict())
    assert keys[0] == "conv1.weight"
    assert {"bn1.running_mean", "layer1.0.conv1.weight", "layer2.0.downsample.1.bias", "layer2.1.bn2.weight"} <= set(
        keys
    )


def test_a_block_with_a_silent_residual_is_its_shortcut():
    net = nn.Sequential(BasicBlock(4, 4), Bottleneck(4, 4)).eval()
    x = maps().relu()
    assert not torch.equal(net(x), x)
    zero_last_norm_(net)
    assert torch.equal(net(x), x)


@pytest.mark.parametrize("stem", ["small", "large"])
@pytest.mark.parametrize("side", [(33, 40), (32, 64), (35, 47)])
def test_says_the_shape_of_its_maps_however_the_sides_halve(stem, side):
    net = ResNet((3, *side), block=BasicBlock, depths=(1, 1, 1), widths=(2, 2, 4), stem=stem, stem_width=2).eval()
    assert net.feature_map(torch.zeros(1, 3, *side)).shape == (1, *net.map_shape)

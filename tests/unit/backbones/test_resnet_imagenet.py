"""Mirror of src/anchored/backbones/resnet_imagenet.py: layout, law, blocks that start silent."""

import math

import pytest
import torch
from torch import nn

from anchored.backbones.resnet import BasicBlock, Bottleneck
from anchored.backbones.resnet_imagenet import resnet10, resnet50, resnext50


@pytest.mark.parametrize(
    ("build", "blocks", "kind", "d"),
    [(resnet10, 4, BasicBlock, 512), (resnet50, 16, Bottleneck, 2048), (resnext50, 16, Bottleneck, 2048)],
)
def test_halves_the_image_five_times(build, blocks, kind, d):
    with torch.device("meta"):
        net = build((3, 224, 224))
        assert net.feature_map(torch.zeros(1, 3, 224, 224)).shape == (1, d, 7, 7)
    assert sum(isinstance(layer, kind) for layer in net.modules()) == blocks


def test_resnet10_counts_as_its_layers_do():
    def basic(before, after):
        shortcut = 0 if before == after else before * after + 2 * after
        return before * after * 9 + 2 * after + after * after * 9 + 2 * after + shortcut

    stem = 3 * 64 * 49 + 2 * 64
    stages = basic(64, 64) + basic(64, 128) + basic(128, 256) + basic(256, 512)
    assert sum(p.numel() for p in resnet10((3, 64, 64)).parameters()) == stem + stages


def test_only_resnext_has_groups():
    with torch.device("meta"):
        plain, grouped = resnet50((3, 224, 224)), resnext50((3, 224, 224))
    assert {layer.groups for layer in plain.modules() if isinstance(layer, nn.Conv2d)} == {1}
    assert {layer.groups for layer in grouped.modules() if isinstance(layer, nn.Conv2d)} == {1, 32}


def test_convolutions_are_drawn_by_fan_out():
    net = resnet10((3, 32, 32))
    for name, fan_out in [("conv1", 64 * 49), ("layer4.0.conv1", 512 * 9), ("layer4.0.downsample.0", 512)]:
        weight = net.get_parameter(f"{name}.weight")
        assert float(weight.detach().std()) == pytest.approx(math.sqrt(2 / fan_out), rel=0.05)


def test_blocks_can_start_as_their_shortcuts():
    scales = [
        block.bn2.weight for block in resnet10((3, 32, 32), zero_init_residual=True).modules() if hasattr(block, "bn2")
    ]
    assert len(scales) == 4
    assert not any(scale.any() for scale in scales)
    assert all((block.bn2.weight == 1).all() for block in resnet10((3, 32, 32)).modules() if hasattr(block, "bn2"))

"""Mirror of src/anchored/backbones/convnet.py: the networks written out by hand, and their laws."""

import math

import pytest
import torch
import torch.nn.functional as F

from anchored import InputError
from anchored.backbones.convnet import ConvNet, cnn4, cnn8


def by_hand(net, images, layout):
    """The published network in functional form, fed with the parameters of ``net`` in order."""
    state = iter(net.state_dict().values())

    def unit(x, operation):
        weight, bias, scale, shift, mean, variance, _ = (next(state) for _ in range(7))
        return F.relu(F.batch_norm(operation(x, weight, bias), mean, variance, scale, shift))

    x = images
    for block in layout:
        for _ in range(block):
            x = unit(x, lambda x, w, b: F.conv2d(x, w, b, stride=1, padding=1))
        x = F.max_pool2d(x, 2, 2)
    features = unit(x.reshape(len(x), -1), F.linear)
    assert next(state, None) is None
    return features


@pytest.mark.parametrize(("build", "shape", "layout"), [(cnn4, (1, 28, 28), (1, 1)), (cnn8, (3, 32, 32), (2, 2, 2))])
def test_is_the_published_network(build, shape, layout):
    images = torch.randn(4, *shape, generator=torch.Generator().manual_seed(0))
    net = build(shape)
    net(images)  # moves the running statistics off 0 and 1
    net.eval()
    torch.testing.assert_close(net(images), by_hand(net, images, layout))


def test_pooling_before_the_relu_changes_neither_maps_nor_gradients():
    images = torch.randn(8, 1, 12, 12, generator=torch.Generator().manual_seed(0))
    net = cnn4((1, 12, 12))
    layers = list(net.convolutions)
    kinds = [type(layer).__name__ for layer in layers]
    assert kinds == 2 * ["Conv2d", "BatchNorm2d", "MaxPool2d", "ReLU"]
    published = torch.nn.Sequential(*(layers[i] for i in (0, 1, 3, 2, 4, 5, 7, 6)))
    found = []
    for maps in (net.convolutions, published):
        net.zero_grad()
        out = maps(images)
        (out * torch.linspace(-1, 1, out.numel()).view_as(out)).sum().backward()
        found.append([out.detach(), *(p.grad.clone() for p in net.convolutions.parameters())])
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))


def test_the_third_block_of_cnn8_has_196_channels():
    widths = [layer.out_channels for layer in cnn8((3, 32, 32)).modules() if isinstance(layer, torch.nn.Conv2d)]
    assert widths == [64, 64, 128, 128, 196, 196]


def test_starts_as_published():
    net = cnn4((1, 28, 28))
    conv, linear = net.convolutions[0].weight.detach(), net.fc1.weight.detach()
    assert float(conv.abs().max()) == pytest.approx(math.sqrt(6 / 9), rel=0.02)
    assert float(linear.abs().max()) == pytest.approx(math.sqrt(6 / (3136 + 128)), rel=0.001)


@pytest.mark.parametrize(("shape", "flat"), [((1, 8, 8), 256), ((3, 9, 15), 384), ((1, 28, 28), 3136)])
def test_the_flattened_length_follows_the_image(shape, flat):
    assert cnn4(shape).fc1.in_features == flat


def test_without_the_last_relu_only_the_sign_changes():
    images = torch.randn(4, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    with_relu, without = cnn4((1, 8, 8)).eval(), cnn4((1, 8, 8), last_relu=False).eval()
    assert torch.equal(with_relu(images), without(images).relu())


def test_refuses_an_image_of_four_pixels():
    with pytest.raises(InputError, match="'cnn4' needs images of at least 8 x 8 pixels, got 4 x 4"):
        cnn4((1, 4, 4))
    with pytest.raises(InputError, match="'ConvNet' needs images of at least 4 x 4 pixels"):
        ConvNet((1, 3, 3), blocks=((2,),), hidden=2)


@pytest.mark.parametrize(
    ("build", "shape", "maps"),
    [(cnn4, (1, 28, 28), (64, 7, 7)), (cnn8, (3, 32, 32), (196, 4, 4)), (cnn4, (3, 9, 15), (64, 2, 3))],
)
def test_says_the_shape_of_its_maps(build, shape, maps):
    net = build(shape).eval()
    assert net.map_shape == maps
    assert net.feature_map(torch.zeros(1, *shape)).shape == (1, *maps)

"""What every backbone of the table promises: shape, sign, size, gradients, and weights from its own generator alone."""

import copy
import functools

import pytest
import torch
from torch import nn

from anchored import InputError, backbones
from anchored.backbones import BACKBONES

# name: (input shape of the paper, feature dimension, parameters without a head)
TABLE = {
    "cnn4": ((1, 28, 28), 128, 420_800),
    "cnn8": ((3, 32, 32), 256, 1_637_224),
    "mlp": ((64,), 128, 49_536),
    "resnet10": ((3, 224, 224), 512, 4_905_792),
    "resnet32": ((3, 32, 32), 64, 463_504),
    "resnet34": ((3, 32, 32), 512, 21_276_992),
    "resnet50": ((3, 224, 224), 2048, 23_508_032),
    "resnext50": ((3, 224, 224), 2048, 22_979_904),
    "tiny": ((1, 28, 28), 32, 4_208),
}
# What a published network counts with a linear head of k classes.
WITH_HEAD = {"cnn4": (10, 422_090), "cnn8": (10, 1_639_794), "resnet32": (100, 470_004), "resnet34": (100, 21_328_292)}
# Shapes that are quick to run; the smallest that each takes.
SMALL = {
    "cnn4": (1, 8, 8), "cnn8": (3, 16, 16), "mlp": (7,), "resnet10": (3, 32, 32), "resnet32": (3, 8, 8),
    "resnet34": (3, 8, 8), "resnet50": (3, 32, 32), "resnext50": (3, 32, 32), "tiny": (2, 5, 3),
}  # fmt: skip

every_backbone = pytest.mark.parametrize("name", BACKBONES)
# The networks of more than 20 million weights pass the same checks, in the slow run.
LARGE = {"resnet34", "resnet50", "resnext50"}
every_backbone_run = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in LARGE else ()) for name in BACKBONES]
)
with_and_without_relu = pytest.mark.parametrize("last_relu", [True, False])


@functools.cache
def built(name, last_relu=True):
    """One network per name, in evaluation mode, with statistics as after some training; not to be changed."""
    net = backbones.get(name, SMALL[name], last_relu=last_relu, generator=torch.Generator().manual_seed(1))
    net.train()
    with torch.no_grad():
        for seed in range(3):
            net(inputs(name, n=8, seed=seed))
    return net.eval()


def inputs(name, n=3, seed=0):
    return torch.randn(n, *SMALL[name], generator=torch.Generator().manual_seed(seed))


def count(net):
    return sum(parameter.numel() for parameter in net.parameters())


def test_the_tables_here_cover_every_backbone():
    assert sorted(TABLE) == sorted(SMALL) == sorted(BACKBONES)


@every_backbone
def test_has_the_published_size(name):
    shape, feature_dim, parameters = TABLE[name]
    with torch.device("meta"):
        net = backbones.get(name, shape)
        out = net(torch.zeros(2, *shape))
    assert (net.input_shape, net.feature_dim, count(net)) == (shape, feature_dim, parameters)
    assert out.shape == (2, feature_dim)
    if name in WITH_HEAD:
        k, total = WITH_HEAD[name]
        assert count(net) + count(nn.Linear(feature_dim, k)) == total


@every_backbone_run
def test_features_are_the_pooled_maps(name):
    net, x = built(name), inputs(name)
    with torch.no_grad():
        maps = net.feature_map(x)
        assert maps.shape == (3, *net.map_shape)
        assert torch.equal(net.pooled(maps), net(x))


@every_backbone_run
@with_and_without_relu
def test_features_are_a_row_per_input_and_their_sign_is_as_declared(name, last_relu):
    net = built(name, last_relu)
    features = net(inputs(name, n=16))
    assert features.shape == (16, net.feature_dim)
    assert features.isfinite().all()
    assert net.signed_features is (not last_relu)
    assert net.signed_features == bool((features < 0).any())
    assert (features > 0).any()


@every_backbone_run
def test_a_gradient_reaches_every_parameter(name):
    # In evaluation mode, because training BatchNorm takes away what a bias before it adds.
    net = copy.deepcopy(built(name))
    features = net(inputs(name, n=16))
    (features * torch.randn(features.shape, generator=torch.Generator().manual_seed(2))).sum().backward()
    without = [key for key, p in net.named_parameters() if p.grad is None or not p.grad.abs().max() > 0]
    assert without == []


@every_backbone_run
def test_evaluation_is_repeatable_and_takes_one_sample(name):
    net, batch = built(name), inputs(name)
    together = net(batch)
    assert torch.equal(together, net(batch))
    alone = torch.cat([net(batch[i : i + 1]) for i in range(len(batch))])
    torch.testing.assert_close(alone, together, rtol=1e-3, atol=1e-4)


@every_backbone_run
def test_channels_last_changes_nothing_but_rounding(name):
    net, batch = built(name), inputs(name)
    if batch.ndim == 2:
        pytest.skip("vectors have no channels")
    faster = copy.deepcopy(net).to(memory_format=torch.channels_last)
    answer = faster(batch.contiguous(memory_format=torch.channels_last))
    torch.testing.assert_close(answer, net(batch), rtol=1e-3, atol=1e-4)


@every_backbone_run
def test_double_precision_agrees_with_single(name):
    net, batch = built(name), inputs(name)
    answer = copy.deepcopy(net).double()(batch.double())
    assert answer.dtype == torch.float64
    torch.testing.assert_close(answer.float(), net(batch), rtol=1e-3, atol=1e-4)


@every_backbone_run
def test_saved_weights_give_the_same_features(name):
    net, batch = built(name), inputs(name)
    other = backbones.get(name, SMALL[name], generator=torch.Generator().manual_seed(99)).eval()
    assert not torch.equal(other(batch), net(batch))
    other.load_state_dict(net.state_dict())
    assert torch.equal(other(batch), net(batch))


@every_backbone_run
def test_weights_come_from_the_generator_and_the_global_one_is_neither_read_nor_moved(name):
    def weights(seed):
        net = backbones.get(name, SMALL[name], generator=torch.Generator().manual_seed(seed))
        return torch.cat([value.flatten() for value in net.state_dict().values()])

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        before = torch.get_rng_state()
        first = weights(5)
        assert torch.equal(torch.get_rng_state(), before)
        torch.manual_seed(1)
        assert torch.equal(weights(5), first)
    assert not torch.equal(weights(6), first)
    assert first.isfinite().all()


@every_backbone_run
def test_the_generator_given_moves_on(name):
    generator = torch.Generator().manual_seed(5)
    before = generator.get_state()
    backbones.get(name, SMALL[name], generator=generator)
    assert not torch.equal(generator.get_state(), before)


@every_backbone
def test_refuses_images_smaller_than_it_can_take(name):
    if name in ("mlp", "tiny"):
        net = backbones.get(name, (1, 1, 1))
        assert net(torch.zeros(2, 1, 1, 1)).shape == (2, net.feature_dim)
        return
    channels, height, width = SMALL[name]
    with pytest.raises(InputError, match=f"'{name}' needs images of at least {height} x {height} pixels"):
        backbones.get(name, (channels, height, width - 1))
    with pytest.raises(InputError, match=f"'{name}' takes images .* got vectors \\(64,\\); use 'mlp'"):
        backbones.get(name, (64,))


@every_backbone
@pytest.mark.parametrize("shape", [(), (28, 28), (8, 1, 28, 28), (0,), (1, 28, -1), (1.5,), 28, "28", None])
def test_refuses_what_is_not_a_shape(name, shape):
    with pytest.raises(InputError, match="input_shape"):
        backbones.get(name, shape)


@every_backbone
def test_takes_images_that_are_not_square(name):
    if len(SMALL[name]) == 1:
        pytest.skip("vectors have no sides")
    channels, height, width = SMALL[name]
    shape = (channels, height + 3, width + 6)
    with torch.device("meta"):
        net = backbones.get(name, shape)
        assert net(torch.zeros(2, *shape)).shape == (2, net.feature_dim)

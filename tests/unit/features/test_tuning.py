"""Mirror of src/anchored/features/tuning.py: in training a network sees what the encoder sees, with its statistics."""

import pytest
import torch
from torch import nn

from anchored.data import TensorInputs
from anchored.features import from_module
from anchored.features._lite0_network import Lite0Network
from anchored.features.tuning import PhotoPixels, TunedBackbone, photo_pixels


def images(n=6):
    generator = torch.Generator().manual_seed(0)
    return TensorInputs(torch.randint(0, 256, (n, 3, 12, 12), generator=generator, dtype=torch.uint8))


def small_encoder(inputs):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    network[1].running_mean.fill_(0.3)
    return from_module(network, size=(16, 16)).fit(inputs)


def test_the_network_in_training_computes_the_features_of_the_encoder():
    inputs = images()
    encoder = small_encoder(inputs)
    pixels = photo_pixels(inputs, encoder).take(torch.arange(6)) / 255
    found = TunedBackbone(encoder).train()(pixels)
    torch.testing.assert_close(found, encoder.transform(inputs), atol=1e-5, rtol=1e-5)


def test_training_changes_weights_and_no_statistics():
    inputs = images()
    encoder = small_encoder(inputs)
    backbone = TunedBackbone(encoder).train()
    optimizer = torch.optim.SGD(backbone.parameters(), lr=0.1)
    backbone(photo_pixels(inputs, encoder).take(torch.arange(6)) / 255).sum().backward()
    optimizer.step()
    before, after = encoder.network.state_dict(), backbone.network.state_dict()
    assert not torch.equal(before["0.weight"], after["0.weight"])
    assert torch.equal(before["1.running_mean"], after["1.running_mean"])


def test_an_encoder_with_other_weights_gives_other_vectors_under_another_digest():
    inputs = images()
    encoder = small_encoder(inputs)
    vectors, digest = encoder.transform(inputs), encoder.digest
    network = encoder.trainable()
    with torch.no_grad():
        network[0].weight.mul_(2.0)
    other = encoder.with_network(network)
    assert other.digest != digest
    assert not torch.allclose(other.transform(inputs), vectors)
    torch.testing.assert_close(encoder.transform(inputs), vectors)  # the first one is as it was


@pytest.mark.parametrize("floats", [False, True])
def test_photos_in_memory_and_decoded_each_time_are_the_same(floats):
    inputs = TensorInputs(images().tensor.float() / 255) if floats else images()
    encoder = small_encoder(inputs)
    kept, lazy = photo_pixels(inputs, encoder), photo_pixels(inputs, encoder, memory_limit=10)
    assert isinstance(kept, TensorInputs)
    assert isinstance(lazy, PhotoPixels)
    index = torch.tensor([4, 1])
    assert torch.equal(kept.take(index), lazy.take(index))
    assert torch.equal(lazy.subset(index).take(torch.tensor([0])), kept.take(index[:1]))
    assert len(lazy) == 6
    assert lazy.take(index).dtype == torch.uint8


def test_folded_training_is_the_network_of_evaluation():
    """A batch normalisation with frozen statistics goes into the weights on the way; in float32 to rounding."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = Lite0Network()
    for part in network.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.running_mean.normal_(0, 0.1, generator=torch.Generator().manual_seed(1))
            part.weight.data.uniform_(0.5, 1.5, generator=torch.Generator().manual_seed(2))
    network.eval()
    x = torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        expected = network(x)
    found = network(x)
    assert found.requires_grad
    torch.testing.assert_close(found.detach(), expected, atol=1e-5, rtol=1e-4)
    rounded = network(x.bfloat16())
    assert float((rounded.detach() - expected).norm() / expected.norm()) < 0.1
    rounded.sum().backward()
    assert all(bool(torch.isfinite(p.grad).all()) for p in network.parameters())


def test_the_first_blocks_can_stay_as_they_are():
    network = Lite0Network().freeze_first_(5)
    trained = [name for name, parameter in network.named_parameters() if parameter.requires_grad]
    assert trained[0].startswith("blocks.5.")
    assert trained[-1].startswith("last.")

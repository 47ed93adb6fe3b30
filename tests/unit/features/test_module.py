"""Mirror of src/anchored/features/module.py: a network of the user's, on images and on vectors."""

import pytest
import torch
from tests.unit.features.standins import some_images, tiny_network
from torch import nn

from anchored import InputError
from anchored.data import TensorInputs
from anchored.features import from_module, restore


def test_vectors_go_through_as_they_are():
    linear = nn.Linear(4, 3)
    rows = torch.randn(21, 4, generator=torch.Generator().manual_seed(0))
    encoder = from_module(linear, batch_size=8).fit(TensorInputs(rows))
    assert (encoder.dim, encoder.fitted) == (3, True)
    torch.testing.assert_close(encoder.transform(TensorInputs(rows)), linear(rows).detach())


def test_the_module_is_frozen_and_in_evaluation_mode():
    network = nn.Sequential(nn.Flatten(), nn.Dropout(0.9), nn.Linear(48, 3))
    network.train()
    images = some_images(4)
    encoder = from_module(network, size=(4, 4))
    assert torch.equal(encoder.transform(images), encoder.transform(images))
    assert not any(parameter.requires_grad for parameter in network.parameters())


def test_the_size_follows_the_images_if_it_is_not_given():
    encoder = from_module(tiny_network())
    with pytest.raises(InputError, match="known after fit"):
        encoder.dim  # noqa: B018
    assert encoder.fit(some_images(2, side=140)).view.height == 160
    assert encoder.transform(some_images(2)).shape == (2, 6)


class Twice(nn.Module):
    def forward(self, x):
        return 2 * x


def test_the_digest_knows_the_code_of_the_module():
    vectors = TensorInputs(torch.ones(1, 2))
    twice = from_module(Twice()).fit(vectors)
    assert from_module(Twice()).fit(vectors).digest == twice.digest
    typed = {}
    exec("class Twice(nn.Module):\n def forward(self, x): return 3 * x", {"nn": nn, "__name__": "typed"}, typed)
    assert repr(typed["Twice"]()) == repr(Twice())
    assert from_module(typed["Twice"]()).fit(vectors).digest != twice.digest
    assert from_module(nn.Identity()).fit(vectors).digest == from_module(nn.Identity()).fit(vectors).digest


def test_refusals():
    with pytest.raises(InputError, match=r"must be a torch.nn.Module, got type; pass an instance"):
        from_module(nn.Linear)
    with pytest.raises(InputError, match="three numbers each"):
        from_module(nn.Linear(1, 1), mean=(1.0,))
    with pytest.raises(InputError, match=r"must answer features \(n, d\), got \(16, 6, 3, 3\)"):
        from_module(nn.Conv2d(3, 6, 2), size=(4, 4)).transform(some_images(2))
    encoder = from_module(tiny_network(), size=(8, 8)).fit(some_images(1))
    with pytest.raises(InputError, match="cannot be made from a file; make the module"):
        restore(*encoder.state())

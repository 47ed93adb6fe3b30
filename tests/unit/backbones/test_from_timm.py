"""Mirror of src/anchored/backbones/from_timm.py, with a stand-in for timm: the library itself is not needed here."""

import sys
import types

import pytest
import torch
from torch import nn

from anchored import InputError, backbones


@pytest.fixture
def timm(monkeypatch):
    """A module called timm with two models, which draws from the global generator as timm does."""

    def create_model(name, *, num_classes, in_chans, width=6):
        assert num_classes == 0
        return nn.Sequential(nn.Conv2d(in_chans, width, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten())

    stand_in = types.ModuleType("timm")
    stand_in.create_model = create_model
    stand_in.list_models = lambda: ["resnet18", "vit_tiny_patch16_224"]
    monkeypatch.setitem(sys.modules, "timm", stand_in)


@pytest.mark.usefixtures("timm")
def test_builds_without_the_classifier_and_hands_options_on():
    net = backbones.get("timm:resnet18", (3, 8, 8), width=9)
    assert (net.feature_dim, net.signed_features) == (9, True)
    assert backbones.get("timm:resnet18.a1_in1k", (1, 8, 8), signed_features=False).signed_features is False


@pytest.mark.usefixtures("timm")
def test_weights_depend_on_the_generator_alone():
    def weights(seed):
        net = backbones.get("timm:resnet18", (3, 8, 8), generator=torch.Generator().manual_seed(seed))
        return torch.cat([p.detach().flatten() for p in net.parameters()])

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        before = torch.get_rng_state()
        first = weights(1)
        assert torch.equal(torch.get_rng_state(), before)
        torch.manual_seed(7)
        assert torch.equal(weights(1), first)
    assert not torch.equal(weights(2), first)


@pytest.mark.usefixtures("timm")
@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("resnet81", {}, "unknown timm model 'resnet81'; did you mean 'resnet18'"),
        ("zzz", {}, r"unknown timm model 'zzz'; see timm.list_models\(\)"),
        ("resnet18", {"last_relu": False}, "last_relu=False is not possible for 'timm:resnet18'"),
    ],
)
def test_refuses_with_the_way_out(name, options, message):
    with pytest.raises(InputError, match=message):
        backbones.get(f"timm:{name}", (3, 8, 8), **options)


def test_without_timm_the_refusal_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(InputError, match=r"'timm:resnet18' needs timm .*run `pip install timm`"):
        backbones.get("timm:resnet18", (3, 8, 8))


def test_refuses_vectors_before_looking_for_timm(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(InputError, match="takes images"):
        backbones.get("timm:resnet18", (64,))


def test_a_torchvision_for_another_torch_is_one_line(monkeypatch):
    def broken(name):
        raise RuntimeError("operator torchvision::nms does not exist\nmore lines")

    monkeypatch.setattr("anchored.backbones.from_timm.import_module", broken)
    with pytest.raises(InputError, match=r"\(operator torchvision::nms does not exist\); install the torchvision"):
        backbones.get("timm:resnet18", (3, 8, 8))

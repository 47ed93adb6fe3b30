"""Mirror of src/anchored/integrations/lightning.py; with Lightning itself it runs in tests/e2e/test_frameworks.py."""

import sys
from types import ModuleType, SimpleNamespace

import pytest
import torch
from torch import nn

from anchored import AnchoredHead, InputError
from anchored.integrations import lightning

X, Y = torch.randn(40, 4, generator=torch.Generator().manual_seed(0)), torch.arange(40) % 3


@pytest.mark.parametrize("batch", [(X, Y), [X, Y], {"x": X, "labels": Y}, {"x": X, "y": Y}], ids=type)
def test_labels_are_found_in_the_usual_places(batch):
    assert torch.equal(lightning.labels_of(batch), Y)


@pytest.mark.parametrize("batch", [X, {"x": X}, (X,)], ids=type)
def test_a_batch_without_labels_is_refused(batch):
    with pytest.raises(InputError, match="pass labels="):
        lightning.labels_of(batch)


class Module(nn.Module):
    """As much of a LightningModule as the callback uses."""

    def __init__(self):
        super().__init__()
        self.head, self.logged = AnchoredHead(4, 3), {}

    def forward(self, x):
        return self.head(x)

    def log_dict(self, numbers, sync_dist):
        assert not sync_dist
        self.logged.update(numbers)


@pytest.fixture
def callback(monkeypatch):
    fake = ModuleType("lightning.pytorch")
    fake.Callback = object
    monkeypatch.setitem(sys.modules, "lightning", ModuleType("lightning"))
    monkeypatch.setitem(sys.modules, "lightning.pytorch", fake)
    return lightning.callback(prefix="valid/")


def validate(callback, module, *, sanity_checking):
    trainer = SimpleNamespace(sanity_checking=sanity_checking, world_size=1)
    callback.on_validation_epoch_start(trainer, module)
    for part in (slice(0, 25), slice(25, 40)):
        module(X[part])
        callback.on_validation_batch_end(trainer, module, None, (X[part], Y[part]), 0)
    callback.on_validation_epoch_end(trainer, module)


def test_logs_the_geometry_of_the_validation_set(callback):
    module = Module()
    validate(callback, module, sanity_checking=True)
    assert module.logged == {}
    validate(callback, module, sanity_checking=False)
    assert {"valid/margin/mean", "valid/angle/own", "valid/angle/rows", "valid/noise/rate"} <= module.logged.keys()
    assert module.logged["valid/accuracy"] == pytest.approx((module(X).argmax(dim=1) == Y).float().mean().item())
    assert not module.head._forward_hooks


def test_an_exception_leaves_no_hook(callback):
    module = Module()
    callback.on_validation_epoch_start(SimpleNamespace(sanity_checking=False, world_size=1), module)
    callback.on_exception(None, module, RuntimeError())
    assert not module.head._forward_hooks


def test_says_how_to_install_what_is_missing(monkeypatch):
    for name in ("lightning", "lightning.pytorch", "pytorch_lightning"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match=r"pip install 'lightning>=2\.6\.4'"):
        lightning.callback()

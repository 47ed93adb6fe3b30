"""Mirror of src/anchored/backbones/wrapped.py: the dimension is found, nothing is left changed, the refusals."""

import pytest
import torch
from torch import nn

from anchored import InputError, backbones
from anchored.backbones import wrap


class Restless(nn.Module):
    """Changes a buffer and draws a number at every call, in whatever mode."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))
        self.linear = nn.Linear(4, 6)

    def forward(self, x):
        self.calls += 1
        return self.linear(x) + torch.rand(())


def test_finds_the_feature_dimension():
    net = wrap(nn.Sequential(nn.Conv2d(3, 5, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten()), (3, 8, 8))
    assert (net.input_shape, net.feature_dim, net.signed_features) == ((3, 8, 8), 5, True)
    assert net(torch.zeros(2, 3, 8, 8)).shape == (2, 5)


def test_leaves_modes_buffers_gradients_and_the_global_generator_as_they_were():
    module = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4, track_running_stats=True), nn.Dropout(), Restless())
    module[0].eval()
    before = {key: value.clone() for key, value in module.state_dict().items()}
    state = torch.get_rng_state()
    wrap(module, (4,))
    assert [part.training for part in module] == [False, True, True, True]
    assert all(torch.equal(value, before[key]) for key, value in module.state_dict().items())
    assert torch.equal(torch.get_rng_state(), state)
    assert all(parameter.grad is None for parameter in module.parameters())


def test_leaves_the_modes_as_they_were_after_a_failure_too():
    module = nn.Sequential(nn.Linear(4, 4), nn.Dropout())
    with pytest.raises(InputError):
        wrap(module, (5,))
    assert all(part.training for part in module.modules())


def test_probes_in_the_precision_of_the_module():
    assert wrap(nn.Linear(4, 3).double(), (4,)).feature_dim == 3


def test_takes_a_module_without_parameters():
    assert wrap(nn.Flatten(), (1, 2, 3), signed_features=False).feature_dim == 6


def test_keeps_the_weights_and_returns_a_backbone_as_it_is():
    linear = nn.Linear(4, 3)
    assert wrap(linear, (4,)).module is linear
    net = backbones.get("tiny", (4,))
    assert wrap(net, (4,)) is net


@pytest.mark.parametrize(
    ("module", "shape", "message"),
    [
        (nn.Linear, (4,), "module must be a torch.nn.Module, got type; pass an instance"),
        (nn.Conv2d(3, 5, 3), (3, 8, 8), r"got \(1, 5, 6, 6\).*append nn.AdaptiveAvgPool2d\(1\) and nn.Flatten\(\)"),
        (nn.Flatten(0), (4,), r"must answer features \(n, d\), got \(4,\)"),
        (nn.LSTM(4, 3), (4,), "must answer one tensor .* got tuple; return the features only"),
        (nn.Linear(4, 3), (5,), r"module does not take inputs \(1, 5\): .*check input_shape=\(5,\)"),
        (nn.Linear(4, 3), 4, "input_shape must be"),
    ],
)
def test_refuses_with_the_way_out(module, shape, message):
    with pytest.raises(InputError, match=message) as refusal:
        wrap(module, shape)
    assert "\n" not in str(refusal.value)

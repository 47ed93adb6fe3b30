"""Mirror of src/anchored/heads/features.py: the head's input, by one forward pass that leaves no trace."""

import pytest
import torch
from torch import nn

from anchored._errors import InputError
from anchored.heads import AnchoredHead, ScaledHead, anchor_, features_of


class Net(nn.Module):
    def __init__(self, head):
        super().__init__()
        self.body = nn.Linear(6, 8)
        self.fc = head

    def forward(self, x, *, shift=0.0, repeat=1):
        for _ in range(repeat):
            logits = self.fc((self.body(x) + shift).relu())
        return logits


@pytest.fixture
def inputs():
    return torch.randn(5, 6, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("head", [AnchoredHead(8, 3), nn.Linear(8, 3), ScaledHead(nn.Linear(8, 3))])
def test_is_the_input_of_the_head(inputs, head):
    model = Net(head)
    found = features_of(model, inputs, shift=1.0)
    assert torch.equal(found, (model.body(inputs) + 1.0).relu())
    assert torch.equal(model.fc(found), model(inputs, shift=1.0))


def test_gradients_reach_the_backbone(inputs):
    model = Net(AnchoredHead(8, 3))
    features_of(model, inputs).sum().backward()
    assert model.body.weight.grad.abs().max() > 0


def test_no_hook_is_left_behind_even_after_an_error(inputs):
    model = Net(AnchoredHead(8, 3))
    features_of(model, inputs)
    with pytest.raises(RuntimeError):
        features_of(model, inputs[:, :2])
    assert not model.fc._forward_pre_hooks


def test_works_on_a_model_anchored_in_place(inputs):
    model = anchor_(nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3)), 3)
    assert torch.equal(features_of(model, inputs), model[:2](inputs))


def test_a_layer_can_be_named(inputs):
    model = Net(nn.Linear(8, 3))
    assert torch.equal(features_of(model, inputs, layer="body"), inputs)


@pytest.mark.parametrize("repeat", [0, 2])
def test_refuses_a_head_that_does_not_run_exactly_once(inputs, repeat):
    class Often(Net):
        def forward(self, x):
            z = self.body(x)
            for _ in range(repeat):
                self.fc(z)
            return z

    with pytest.raises(InputError, match=f"must run exactly once per forward pass .*, it ran {repeat} times"):
        features_of(Often(AnchoredHead(8, 3)), inputs)


def test_refuses_to_guess_between_two_heads(inputs):
    model = nn.ModuleDict({"a": AnchoredHead(8, 3), "b": AnchoredHead(8, 3)})
    with pytest.raises(InputError, match=r"it has 2; choose one of a \(8 -> 3\), b \(8 -> 3\)"):
        features_of(model, inputs)

"""Mirror of src/anchored/heads/_sign.py: "nonnegative" only where no input could prove it wrong."""

import pytest
import torch
from torch import nn

from anchored.heads._sign import sign_of_input


def chain(*modules):
    return nn.Sequential(*modules, nn.Linear(8, 3))


class Opaque(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(x) - 1


CHAINS = {
    "relu": (chain(nn.ReLU()), "nonnegative"),
    "relu, then modules that keep signs": (chain(nn.ReLU(), nn.Dropout(), nn.Identity()), "nonnegative"),
    "sigmoid": (chain(nn.Sigmoid()), "nonnegative"),
    "a nested chain that ends in relu": (chain(nn.Sequential(nn.Linear(8, 8), nn.ReLU())), "nonnegative"),
    "relu before a nested chain": (chain(nn.ReLU(), nn.Sequential(nn.Dropout())), "nonnegative"),
    "gelu": (chain(nn.GELU()), "signed"),
    "leaky relu": (chain(nn.LeakyReLU()), "signed"),
    "relu, then a norm": (chain(nn.ReLU(), nn.BatchNorm1d(8)), "signed"),
    "alpha dropout": (chain(nn.ReLU(), nn.AlphaDropout()), "signed"),
    "nothing before": (chain(), "signed"),
    "a block that cannot be read": (chain(Opaque()), "signed"),
}


@pytest.mark.parametrize(("model", "sign"), CHAINS.values(), ids=CHAINS.keys())
def test_reads_chains(model, sign):
    assert sign_of_input(model, str(len(model) - 1)) == sign


@pytest.mark.parametrize("model", [model for model, sign in CHAINS.values() if sign == "nonnegative"])
def test_what_is_called_nonnegative_is(model):
    inputs = 5 * torch.randn(256, 8, generator=torch.Generator().manual_seed(0))
    assert model[:-1](inputs).min() >= 0


def test_goes_outwards_from_a_chain_that_opens_with_the_layer():
    assert sign_of_input(nn.Sequential(nn.ReLU(), nn.Sequential(nn.Flatten(), nn.Linear(8, 3))), "1.1") == "nonnegative"


def test_a_forward_written_by_hand_counts_as_signed():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.act = nn.ReLU()
            self.fc = nn.Linear(8, 3)

    assert sign_of_input(Net(), "fc") == "signed"


@pytest.mark.parametrize(("signed", "sign"), [(False, "nonnegative"), (True, "signed")])
def test_believes_what_a_model_or_backbone_declares(signed, sign):
    whole = chain(nn.GELU())
    whole.signed_features = signed
    assert sign_of_input(whole, "1") == sign
    backbone = Opaque()
    backbone.signed_features = signed
    assert sign_of_input(chain(backbone, nn.Dropout()), "2") == sign


def test_a_layer_in_two_places_must_be_safe_in_both():
    shared = nn.Linear(8, 8)
    assert sign_of_input(nn.Sequential(nn.ReLU(), shared, nn.ReLU(), shared), "1") == "nonnegative"
    assert sign_of_input(nn.Sequential(nn.ReLU(), shared, nn.GELU(), shared), "1") == "signed"


def test_a_relu_that_is_used_twice_is_seen_twice():
    relu = nn.ReLU()
    assert sign_of_input(nn.Sequential(relu, nn.Linear(8, 8), relu, nn.Linear(8, 3)), "3") == "nonnegative"

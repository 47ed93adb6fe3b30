"""Mirror of src/anchored/heads/tau_norm.py: both ends of the power, and rows of zero length."""

import math

import pytest
import torch
from torch import nn

from anchored._errors import InputError
from anchored.heads import CosineHead, LinearHead, TauNormHead


@pytest.fixture
def features():
    return torch.randn(16, 12, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def trained():
    head = LinearHead(12, 5, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        head.weight *= torch.tensor([5.0, 3.0, 2.0, 1.0, 0.5])[:, None]
    return head


@pytest.mark.parametrize("tau", [0.0, 0.3, 1.0, 2.0])
def test_agrees_with_the_formula_class_by_class(features, trained, tau):
    found = TauNormHead(trained, tau=tau)(features)
    for j, row in enumerate(trained.weight.tolist()):
        length = math.sqrt(sum(value * value for value in row))
        expected = features @ torch.tensor(row) / length**tau
        torch.testing.assert_close(found[:, j], expected)


def test_tau_zero_is_the_same_classifier_without_its_bias(features, trained):
    torch.testing.assert_close(TauNormHead(trained, tau=0)(features), trained(features) - trained.bias)


def test_the_order_of_the_lengths_turns_round_at_one(trained):
    lengths = {tau: TauNormHead(trained, tau=tau).rows().norm(dim=1) for tau in (0.0, 1.0, 2.0)}
    assert lengths[0.0][0] > lengths[0.0][4]
    torch.testing.assert_close(lengths[1.0], torch.ones(5))
    assert lengths[2.0][0] < lengths[2.0][4]


def test_a_row_of_zeros_stays_zero(trained):
    with torch.no_grad():
        trained.weight[2] = 0
    rows = TauNormHead(trained, tau=2.0).rows()
    assert rows[2].tolist() == [0.0] * 12
    assert torch.isfinite(rows).all()


def test_takes_torchs_layer_and_a_head_that_normalises(features):
    layer = nn.Linear(12, 5, bias=False)
    torch.testing.assert_close(TauNormHead(layer, tau=0)(features), layer(features))
    cosine = CosineHead(12, 5, scale=30.0)
    torch.testing.assert_close(TauNormHead(cosine, tau=1)(features), cosine(features) / 30, atol=1e-6, rtol=1e-5)


def test_has_nothing_to_train_and_leaves_the_source_alone(trained):
    before = trained.weight.clone()
    head = TauNormHead(trained)
    assert list(head.parameters()) == []
    assert set(head.state_dict()) == {"scaled_rows", "power", "saved_normalize"}
    assert torch.equal(trained.weight, before)


@pytest.mark.parametrize("tau", [-0.1, math.nan, "1"])
def test_refuses_a_negative_power(trained, tau):
    with pytest.raises(InputError, match=r"tau must lie in \[0, inf\)"):
        TauNormHead(trained, tau=tau)


def test_the_power_is_saved_with_the_rows(trained):
    chosen, built_again = TauNormHead(trained, tau=0.7), TauNormHead(trained, tau=0.0)
    built_again.load_state_dict(chosen.state_dict())
    assert built_again.tau == pytest.approx(0.7)
    assert "tau=0.7" in repr(built_again)

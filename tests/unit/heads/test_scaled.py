"""Mirror of src/anchored/heads/scaled.py: factors on logits, and who is trained."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from anchored.heads import AnchoredHead, LinearHead, ScaledHead


@pytest.fixture
def features():
    return torch.randn(16, 12, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("source", [nn.Linear(12, 5), LinearHead(12, 5), AnchoredHead(12, 5, scale=3.0)])
def test_starts_as_the_head_it_scales(features, source):
    assert torch.equal(ScaledHead(source)(features), source(features))


def test_a_factor_multiplies_weight_and_bias_alike(features):
    source = LinearHead(12, 5)
    head = ScaledHead(source)
    with torch.no_grad():
        head.factors.copy_(torch.arange(5.0))
    expected = torch.stack([j * (features @ source.weight[j] + source.bias[j]) for j in range(5)], dim=1)
    torch.testing.assert_close(head(features), expected)


def trained(head, features):
    """Names of the parameters that a step with weight decay changes."""
    before = {name: values.clone() for name, values in head.state_dict().items()}
    optimiser = torch.optim.SGD(head.parameters(), lr=0.1, momentum=0.9, weight_decay=0.1)
    F.cross_entropy(head(features), torch.arange(16) % 5).backward()
    optimiser.step()
    return {name for name, values in head.state_dict().items() if not torch.equal(values, before[name])}


def test_lws_trains_the_factors_only(features):
    assert trained(ScaledHead(LinearHead(12, 5)), features) == {"factors"}


def test_mislas_trains_the_inner_head_too(features):
    head = ScaledHead(LinearHead(12, 5), train_head=True)
    assert trained(head, features) == {"factors", "head.weight", "head.bias"}


@pytest.mark.parametrize("train_head", [False, True])
def test_the_source_is_not_changed(features, train_head):
    source = LinearHead(12, 5)
    before = source.weight.clone()
    trained(ScaledHead(source, train_head=train_head), features)
    assert torch.equal(source.weight, before)
    assert source.weight.requires_grad


def test_says_whether_it_trains_the_head():
    assert "train_head=True" in repr(ScaledHead(LinearHead(12, 5), train_head=True))

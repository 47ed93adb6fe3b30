"""Mirror of src/anchored/heads/linear.py: torch's linear layer, and how other heads become one."""

import math

import pytest
import torch
from torch import nn

from anchored._errors import InputError
from anchored.heads import AnchoredConv, AnchoredHead, CosineHead, LinearHead
from anchored.heads.linear import copy_of


@pytest.fixture
def features():
    return torch.randn(16, 12, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("bias", [True, False])
def test_is_torchs_linear_layer(features, bias):
    head, layer = LinearHead(12, 5, bias=bias), nn.Linear(12, 5, bias=bias)
    layer.load_state_dict(head.state_dict())
    assert torch.equal(head(features), layer(features))


def test_starts_from_torchs_distribution():
    head = LinearHead(400, 300, generator=torch.Generator().manual_seed(0))
    bound = 1 / math.sqrt(400)
    for values in (head.weight.detach(), head.bias.detach()):
        assert values.abs().max() <= bound
        assert values.std() == pytest.approx(bound / math.sqrt(3), rel=0.1)


def test_the_global_generator_is_left_alone():
    before = torch.random.get_rng_state()
    LinearHead(12, 5)
    CosineHead(12, 5)
    AnchoredHead(12, 5)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_second_stage_starts_at_the_anchored_classifier(features):
    first = AnchoredHead(12, 5, normalize=False, scale=4.0)
    second = LinearHead.from_rows(first.rows())
    torch.testing.assert_close(second(features), first(features))
    assert all(parameter.requires_grad for parameter in second.parameters())
    with torch.no_grad():
        second.weight.zero_()
    assert first.prototypes.abs().max() > 0


def test_from_rows_takes_dtype_and_offsets():
    rows, offsets = torch.ones(3, 4, dtype=torch.float64), torch.tensor([1.0, 2.0, 3.0])
    head = LinearHead.from_rows(rows, bias=offsets)
    assert head.weight.dtype == head.bias.dtype == torch.float64
    assert head(torch.zeros(4, dtype=torch.float64)).tolist() == [1.0, 2.0, 3.0]
    assert LinearHead.from_rows(rows, bias=False).bias is None


def test_from_rows_refuses_other_shapes():
    with pytest.raises(InputError, match=r"rows must have shape \(num_classes, in_features\), got \(4,\)"):
        LinearHead.from_rows(torch.ones(4))
    with pytest.raises(InputError, match=r"one offset per row, \(3,\), got \(4,\)"):
        LinearHead.from_rows(torch.ones(3, 4), bias=torch.ones(4))


@pytest.mark.parametrize(
    "source", [nn.Linear(12, 5), nn.Linear(12, 5, bias=False), LinearHead(12, 5), CosineHead(12, 5)]
)
def test_a_copy_gives_the_same_logits_and_shares_nothing(features, source):
    copied = copy_of(source)
    assert torch.equal(copied(features), source(features))
    theirs = {parameter.data_ptr() for parameter in source.parameters()}
    assert theirs.isdisjoint(parameter.data_ptr() for parameter in copied.parameters())


def test_a_copy_of_something_else_is_refused():
    with pytest.raises(InputError, match=r"must be one of anchored\.heads or a torch\.nn\.Linear, got ReLU"):
        copy_of(nn.ReLU())
    with pytest.raises(InputError, match="needs feature vectors, got an AnchoredConv"):
        copy_of(AnchoredConv(12, 5))

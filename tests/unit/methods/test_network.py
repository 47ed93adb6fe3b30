"""Mirror of src/anchored/methods/network.py: logits by way of features, and where they stand among more."""

from typing import NamedTuple

import pytest
import torch
from torch import Tensor, nn

from anchored.heads import LinearHead, NearestMeanHead
from anchored.methods import Network, logits_in


class Doubling(Network):
    """Features are twice the inputs."""

    input_shape = (3,)

    def __init__(self, head):
        super().__init__()
        self.head = head

    def features(self, inputs):
        return 2 * inputs


class Both(NamedTuple):
    extra: Tensor
    logits: Tensor


def test_logits_are_the_head_of_the_features():
    head = LinearHead(3, 2)
    x = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    assert torch.equal(Doubling(head)(x), head(2 * x))


def test_rows_are_the_heads_where_it_has_any():
    head = LinearHead(3, 2)
    assert Doubling(head).rows() is head.weight
    assert Doubling(NearestMeanHead(3, 2)).rows() is None
    assert Doubling(nn.Linear(3, 2)).rows() is None


def test_logits_are_found_by_name_whatever_stands_before_them():
    logits = torch.ones(2, 3)
    assert logits_in(logits) is logits
    assert logits_in(Both(torch.zeros(2, 9), logits)) is logits


def test_a_network_must_say_what_its_features_are():
    with pytest.raises(TypeError, match="features"):
        Network()

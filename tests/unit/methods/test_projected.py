"""Mirror of src/anchored/methods/projected.py: what the layer in between does."""

import torch
from torch import nn

from anchored import AnchoredHead, backbones
from anchored.methods.projected import Projected


def test_features_are_those_of_the_layer_and_logits_those_of_the_head():
    backbone, layer, head = backbones.get("tiny", (6,)), nn.Linear(32, 5), AnchoredHead(5, 3)
    network = Projected(backbone, layer, head)
    x = torch.randn(4, 6, generator=torch.Generator().manual_seed(0))
    assert torch.equal(network.features(x), layer(backbone(x)))
    assert torch.equal(network(x), head(layer(backbone(x))))
    assert torch.equal(network.rows(), head.prototypes)


def test_a_linear_layer_gives_features_of_either_sign():
    network = Projected(backbones.get("tiny", (6,)), nn.Linear(32, 5), AnchoredHead(5, 3))
    features = network.features(torch.randn(40, 6, generator=torch.Generator().manual_seed(0)))
    assert features.min() < 0 < features.max()

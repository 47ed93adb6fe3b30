"""Mirror of src/anchored/methods/classifier.py: features, then the head."""

import torch

from anchored import AnchoredHead, backbones
from anchored.methods import Classifier


def test_logits_are_the_head_of_the_features():
    model = Classifier(backbones.get("tiny", (8,)), AnchoredHead(32, 3))
    x = torch.randn(5, 8, generator=torch.Generator().manual_seed(0))
    assert model.features(x).shape == (5, 32)
    assert torch.equal(model(x), model.head(model.features(x)))


def test_an_anchored_head_adds_nothing_to_train():
    backbone = backbones.get("tiny", (8,))
    model = Classifier(backbone, AnchoredHead(32, 3))
    assert [name for name, _ in model.named_parameters()] == [f"backbone.{n}" for n, _ in backbone.named_parameters()]
    assert "head.prototypes" in model.state_dict()

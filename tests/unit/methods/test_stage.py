"""Mirror of src/anchored/methods/stage.py: what is frozen, what moves on, and which loss held-out logits get."""

import pytest
import torch

from anchored import backbones
from anchored.heads import LinearHead
from anchored.losses import CrossEntropy, Focal
from anchored.methods import Classifier, Stage, everything, freeze_


@pytest.fixture
def network():
    backbone = backbones.get("cnn4", (1, 28, 28), generator=torch.Generator().manual_seed(0))
    return Classifier(backbone, LinearHead(backbone.feature_dim, 3)).train()


@pytest.mark.parametrize("statistics", [True, False])
def test_freezing_leaves_the_head_to_train_and_statistics_to_the_choice(network, statistics):
    freeze_(network, statistics=statistics)
    assert {key for key, p in network.named_parameters() if p.requires_grad} == {"head.weight", "head.bias"}
    assert network.head.training
    norms = [part for part in network.backbone.modules() if isinstance(part, torch.nn.modules.batchnorm._BatchNorm)]
    assert norms
    assert all(part.training == statistics for part in norms)


def test_frozen_features_pass_no_gradient_on(network):
    freeze_(network, statistics=True)
    network(torch.randn(4, 1, 28, 28, generator=torch.Generator().manual_seed(1))).sum().backward()
    assert all(p.grad is None for p in network.backbone.parameters())
    assert network.head.weight.grad.abs().max() > 0


def test_everything_is_one_group_at_the_full_rate(network):
    (group,) = everything(network)
    assert group.factor == 1.0
    assert len(group.parameters) == len(list(network.parameters()))


class TwiceCrossEntropy:
    """An objective that is no loss of logits."""

    def pointwise(self, outputs, labels):
        return 2 * CrossEntropy().pointwise(outputs, labels)


def test_held_out_logits_are_scored_by_the_loss_itself_where_it_is_one():
    own, focal = Focal(), Focal(gamma=3.0)
    assert Stage(name="a", loss=own).scored_by is own
    assert Stage(name="a", loss=own, score=focal).scored_by is focal
    assert isinstance(Stage(name="a", loss=TwiceCrossEntropy()).scored_by, CrossEntropy)
    assert Stage(name="a", loss=TwiceCrossEntropy(), score=focal).scored_by is focal


def test_by_default_a_stage_changes_nothing(network):
    stage = Stage(name="plain", loss=CrossEntropy())
    before = {key: value.clone() for key, value in network.state_dict().items()}
    head = network.head
    stage.enter(network)
    stage.fill(network, None)
    stage.prepare(network, 0.5)
    assert network.head is head
    assert all(torch.equal(value, before[key]) for key, value in network.state_dict().items())
    assert (stage.companion, stage.share(0.9), stage.sampling, stage.trained) == (None, 0.5, "instance", True)

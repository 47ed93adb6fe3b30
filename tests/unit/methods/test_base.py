"""Mirror of src/anchored/methods/base.py: features and logits, what is frozen, the usual network and stage, options."""

from dataclasses import dataclass
from typing import NamedTuple

import pytest
import torch
from tests.builders import build_context
from torch import Tensor, nn

from anchored import AnchoredHead, backbones
from anchored._errors import InputError
from anchored.heads import CosineHead, LinearHead, NearestMeanHead
from anchored.losses import LDAM, CrossEntropy, Focal
from anchored.methods import Classifier, Network, Procedure, Stage, everything, freeze_, logits_in, parse


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


def test_logits_of_a_network_are_the_head_of_its_features():
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


def test_logits_of_a_classifier_are_the_head_of_its_features():
    model = Classifier(backbones.get("tiny", (8,)), AnchoredHead(32, 3))
    x = torch.randn(5, 8, generator=torch.Generator().manual_seed(0))
    assert model.features(x).shape == (5, 32)
    assert torch.equal(model(x), model.head(model.features(x)))


def test_an_anchored_head_adds_nothing_to_train():
    backbone = backbones.get("tiny", (8,))
    model = Classifier(backbone, AnchoredHead(32, 3))
    assert [name for name, _ in model.named_parameters()] == [f"backbone.{n}" for n, _ in backbone.named_parameters()]
    assert "head.prototypes" in model.state_dict()


def test_features_are_those_of_the_layer_and_logits_those_of_the_head():
    backbone, layer, head = backbones.get("tiny", (6,)), nn.Linear(32, 5), AnchoredHead(5, 3)
    network = Classifier(backbone, head, layer)
    x = torch.randn(4, 6, generator=torch.Generator().manual_seed(0))
    assert torch.equal(network.features(x), layer(backbone(x)))
    assert torch.equal(network(x), head(layer(backbone(x))))
    assert torch.equal(network.rows(), head.prototypes)


def test_a_linear_layer_gives_features_of_either_sign():
    network = Classifier(backbones.get("tiny", (6,)), AnchoredHead(5, 3), nn.Linear(32, 5))
    features = network.features(torch.randn(40, 6, generator=torch.Generator().manual_seed(0)))
    assert features.min() < 0 < features.max()


@pytest.fixture
def classifier():
    backbone = backbones.get("cnn4", (1, 28, 28), generator=torch.Generator().manual_seed(0))
    return Classifier(backbone, LinearHead(backbone.feature_dim, 3)).train()


@pytest.mark.parametrize("statistics", [True, False])
def test_freezing_leaves_the_head_to_train_and_statistics_to_the_choice(classifier, statistics):
    freeze_(classifier, statistics=statistics)
    assert {key for key, p in classifier.named_parameters() if p.requires_grad} == {"head.weight", "head.bias"}
    assert classifier.head.training
    norms = [part for part in classifier.backbone.modules() if isinstance(part, torch.nn.modules.batchnorm._BatchNorm)]
    assert norms
    assert all(part.training == statistics for part in norms)


def test_frozen_features_pass_no_gradient_on(classifier):
    freeze_(classifier, statistics=True)
    classifier(torch.randn(4, 1, 28, 28, generator=torch.Generator().manual_seed(1))).sum().backward()
    assert all(p.grad is None for p in classifier.backbone.parameters())
    assert classifier.head.weight.grad.abs().max() > 0


def test_everything_is_one_group_at_the_full_rate(classifier):
    (group,) = everything(classifier)
    assert group.factor == 1.0
    assert len(group.parameters) == len(list(classifier.parameters()))


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


def test_by_default_a_stage_changes_nothing(classifier):
    stage = Stage(name="plain", loss=CrossEntropy())
    before = {key: value.clone() for key, value in classifier.state_dict().items()}
    head = classifier.head
    stage.enter(classifier)
    stage.fill(classifier, None)
    stage.begin_epoch(classifier, 0.5)
    assert classifier.head is head
    assert all(torch.equal(value, before[key]) for key, value in classifier.state_dict().items())
    assert (stage.companion, stage.share(0.9), stage.sampling, stage.trained) == (None, 0.5, "instance", True)


def given(name, **changes):
    return build_context(name, counts=(90, 30, 10), noise_rate=0.2, **changes)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("ce", LinearHead), ("ce+pal", AnchoredHead), ("ce+fnpn", CosineHead), ("ldam+drw+pal", AnchoredHead)],
)
def test_the_usual_network_is_a_backbone_and_the_methods_head(name, kind):
    network = Procedure(given(name)).network()
    assert isinstance(network.head, kind)
    assert network(torch.zeros(2, 6)).shape == (2, 3)


def test_the_usual_stage_reads_the_method():
    (stage,) = Procedure(given("ldam+drw")).stages()
    assert isinstance(stage.loss, LDAM)
    assert (stage.name, stage.deferred, stage.mixup, stage.settings) == ("training", True, False, "first")
    (mixed,) = Procedure(given("ce+mixup+rs")).stages()
    assert (mixed.mixup, mixed.sampling, mixed.weighted) == (True, "balanced", False)
    assert Procedure(given("ce+rw")).stages()[0].weighted


def test_the_same_seed_gives_the_same_network_and_another_seed_another():
    def weight(seed):
        return Procedure(given("ce", seed=seed)).network().head.weight

    assert torch.equal(weight(0), weight(0))
    assert not torch.equal(weight(0), weight(1))


def test_streams_of_a_run_differ_by_name():
    one, other = given("ce"), given("ce")
    assert torch.equal(one.head(8, stream_name="a").weight, other.head(8, stream_name="a").weight)
    assert not torch.equal(one.head(8, stream_name="a").weight, one.head(8, stream_name="b").weight)


def test_a_blank_head_has_the_shape_of_the_anchors_and_none_of_their_cost():
    full, blank = given("ce+fnpal").head(8), given("ce+fnpal", blank=True, anchors="paper").head(8)
    assert blank.prototypes.shape == full.prototypes.shape
    assert blank.scale == full.scale
    blank.load_state_dict(full.state_dict())
    assert torch.equal(blank.prototypes, full.prototypes)


class WithOptions(Procedure):
    """A method of the test's own."""

    @dataclass(frozen=True)
    class Options:
        alpha: float = 1.0
        beta: float = 2.0
        gamma: float = 3.0

        def __post_init__(self):
            if self.alpha < 0:
                raise InputError("alpha must not be negative")

    @classmethod
    def published_options(cls, source, counts):
        return {"beta": 20.0, "gamma": 30.0} if source == "known" else {}


def test_options_are_the_defaults_then_the_published_then_the_asked():
    method, counts = parse("ce"), torch.tensor([2, 1])
    assert WithOptions.resolve(method, "other", counts, {}) == {"alpha": 1.0, "beta": 2.0, "gamma": 3.0}
    assert WithOptions.resolve(method, "known", counts, {"gamma": 9.0}) == {"alpha": 1.0, "beta": 20.0, "gamma": 9.0}
    assert WithOptions(given("ce", options={"alpha": 5.0})).options == WithOptions.Options(alpha=5.0)


def test_an_option_that_is_unknown_or_wrong_is_refused():
    counts = torch.tensor([2, 1])
    with pytest.raises(InputError, match="unknown option 'alpa' of method 'ce'; did you mean 'alpha'"):
        WithOptions.resolve(parse("ce"), "other", counts, {"alpa": 1.0})
    with pytest.raises(InputError, match="it has none"):
        Procedure.resolve(parse("ce"), "other", counts, {"alpha": 1.0})
    with pytest.raises(InputError, match="must not be negative"):
        WithOptions.resolve(parse("ce"), "other", counts, {"alpha": -1.0})

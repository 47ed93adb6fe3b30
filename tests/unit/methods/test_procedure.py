"""Mirror of src/anchored/methods/procedure.py: the usual network and stage, and options laid over each other."""

from dataclasses import dataclass

import pytest
import torch

from anchored import backbones
from anchored._errors import InputError
from anchored.heads import AnchoredHead, CosineHead, LinearHead
from anchored.losses import LDAM
from anchored.methods import Given, Procedure, parse


def given(name, **changes):
    def backbone(stream_name="init", /):
        return backbones.get("tiny", (6,), generator=torch.Generator().manual_seed(len(stream_name)))

    return Given(method=parse(name), backbone=backbone, counts=torch.tensor([90, 30, 10]), noise_rate=0.2, **changes)


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
    assert (stage.name, stage.deferred, stage.mixup, stage.second) == ("training", True, False, False)
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
    def published(cls, source, counts):
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

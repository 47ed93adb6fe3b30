"""Mirror of src/anchored/methods/build.py: heads and losses are what the method says."""

import functools

import pytest
import torch

from anchored import losses, prototypes, theory
from anchored._errors import InputError
from anchored.heads import AnchoredHead, CosineHead, LinearHead
from anchored.methods.build import make_head, make_loss
from anchored.methods.parse import parse


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(
    ("name", "kind", "normalize", "scale"),
    [
        ("ce", LinearHead, None, None),
        ("ce+pal", AnchoredHead, False, 1.0),
        ("ce+fnpal", AnchoredHead, True, theory.noise_aware_scale(0.4)),
        ("nce+rce+fnpal", AnchoredHead, True, 10.0),
        ("ce+fnpn", CosineHead, None, theory.noise_aware_scale(0.4)),
        ("norm", CosineHead, None, 30.0),
        ("norm+pal", AnchoredHead, True, 30.0),
        ("ldam", CosineHead, None, 1.0),
        ("ldam+drw+pal", AnchoredHead, True, 1.0),
        ("nsl", AnchoredHead, True, 1.0),
    ],
)
def test_the_head_is_the_methods(name, kind, normalize, scale):
    head = make_head(parse(name), 16, 5, noise_rate=0.4, generator=generator())
    assert type(head) is kind
    assert head(torch.ones(2, 16)).shape == (2, 5)
    if normalize is not None:
        assert head.normalize == normalize
    if scale is not None:
        assert head.scale == pytest.approx(scale)


def test_a_scale_that_is_given_wins():
    assert make_head(parse("ce+fnpal"), 16, 5, scale=3.0).scale == 3.0


def test_a_noise_aware_scale_needs_a_rate():
    with pytest.raises(InputError, match=r"method 'ce\+fnpal' sets its scale from the noise rate.*pass noise_rate="):
        make_head(parse("ce+fnpal"), 16, 5)


@pytest.mark.parametrize("anchors", ["auto", "aligned", "random", "paper", "paper-relu"])
@pytest.mark.parametrize("signed", [True, False])
def test_anchors_are_unit_rows_and_auto_knows_the_features(anchors, signed, monkeypatch):
    # The paper's procedure takes 100,000 steps, of which a handful are enough to see that it is called.
    monkeypatch.setattr(prototypes, "paper", functools.partial(prototypes.paper, steps=5))
    head = make_head(parse("ce+pal"), 16, 5, signed_features=signed, anchors=anchors, generator=generator())
    torch.testing.assert_close(head.prototypes.norm(dim=1), torch.ones(5))
    # Non-negative features reach an aligned anchor best: its own direction is their largest possible cosine.
    reach = head.prototypes.clamp(min=0).norm(dim=1).min().item()
    aligned = anchors == "aligned" or (anchors == "auto" and not signed)
    assert (reach > 0.8) == aligned


@pytest.mark.parametrize(("anchors", "use_relu"), [("paper", False), ("paper-relu", True)])
def test_both_forms_of_the_papers_generator_can_be_asked_for(anchors, use_relu, monkeypatch):
    quick = functools.partial(prototypes.paper, steps=5)
    monkeypatch.setattr(prototypes, "paper", quick)
    head = make_head(parse("ce+pal"), 16, 5, anchors=anchors, generator=generator())
    seed = int(torch.randint(2**31, (1,), generator=generator()))
    assert torch.equal(head.prototypes, quick(5, 16, use_relu=use_relu, seed=seed))


def test_the_same_generator_gives_the_same_head():
    for name in ("ce", "ce+pal", "ce+fnpn"):
        heads = [make_head(parse(name), 16, 5, noise_rate=0.1, generator=generator(seed)) for seed in (3, 3, 4)]
        first, second, third = (torch.cat([t.flatten() for t in head.state_dict().values()]) for head in heads)
        assert torch.equal(first, second)
        assert not torch.equal(first, third)


def test_unknown_anchors_are_refused():
    with pytest.raises(InputError, match="anchors must be one of auto, aligned, random, paper, paper-relu, got 'best'"):
        make_head(parse("ce+pal"), 16, 5, anchors="best")


def test_the_loss_is_the_methods_with_its_counts_scale_and_settings():
    ldam = make_loss(parse("ldam+drw"), counts=[100, 10, 5])
    assert (type(ldam), ldam.scale) == (losses.LDAM, 30.0)
    assert make_loss(parse("gce"), settings={"q": 0.3}).q == 0.3
    logits, y = torch.randn(6, 3, generator=generator()), torch.tensor([0, 1, 2, 0, 1, 2])
    prior = torch.tensor([100.0, 10.0, 5.0]) / 115
    balanced = make_loss(parse("balanced-softmax"), counts=[100, 10, 5])
    torch.testing.assert_close(balanced(logits, y), torch.nn.functional.cross_entropy(logits + prior.log(), y))


@pytest.mark.parametrize("name", ["ldam", "balanced-softmax", "logit-adjusted", "lade"])
def test_losses_that_need_counts_say_so(name):
    with pytest.raises(InputError, match="needs the class counts of the training set; pass counts="):
        make_loss(parse(name))

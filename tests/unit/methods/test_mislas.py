"""Mirror of src/anchored/methods/mislas.py: its two stages, its identities, and the published settings."""

import pytest
import torch
import torch.nn.functional as F
from tests.builders import build_context
from tests.builders import resolved as resolve

from anchored import imbalance
from anchored._errors import InputError
from anchored.data import load_digits
from anchored.heads import ScaledHead
from anchored.methods import make_procedure, parse
from anchored.methods.mislas import PUBLISHED, MiSLAS
from anchored.runs import fit


def made(name="mislas", *, backbone="tiny", shape=(6,), counts=(90, 30, 10), **options):
    return make_procedure(build_context(name, backbone, shape, counts, options=options))


def test_mixup_is_for_the_features_and_balanced_batches_for_the_classifier():
    first, second = made().stages()
    assert (first.mixup, first.sampling) == (True, "instance")
    assert (second.mixup, second.sampling, second.settings) == (False, "balanced", "second")
    assert MiSLAS.second_epochs == 10


@pytest.mark.parametrize("name", ["mislas", "mislas+pal"])
def test_the_second_stage_goes_on_from_the_first_classifier(name):
    mislas = made(name)
    network, second = mislas.network().eval(), mislas.stages()[1]
    x = torch.randn(5, 6, generator=torch.Generator().manual_seed(1))
    before, rows, offset = network(x), network.head.rows().clone(), network.head.offset()
    second.enter(network)
    assert isinstance(network.head, ScaledHead)
    assert torch.equal(network.head.head.weight, rows)
    assert torch.equal(network.head.head.bias, torch.zeros(3) if offset is None else offset)
    torch.testing.assert_close(network.eval()(x), before)
    trained = {key for key, p in network.named_parameters() if p.requires_grad}
    assert trained == {"head.factors", "head.head.weight", "head.head.bias"}


def test_the_factors_learn_at_the_full_rate_and_the_rows_more_slowly():
    mislas = made(lr_factor=0.05)
    network, second = mislas.network(), mislas.stages()[1]
    second.enter(network)
    factors, rows = second.groups(network)
    assert factors.factor == 1.0
    assert [p.shape for p in factors.parameters] == [(3,)]
    assert rows.factor == 0.05
    assert {p.shape for p in rows.parameters} == {(3, 32), (3,)}


@pytest.mark.parametrize("shift_bn", [True, False])
def test_shifted_statistics_are_an_option(shift_bn):
    mislas = made(backbone="cnn4", shape=(1, 28, 28), shift_bn=shift_bn)
    network, second = mislas.network(), mislas.stages()[1]
    second.enter(network)
    network.train()
    second.begin_epoch(network, 0.0)
    before = {key: value.clone() for key, value in network.backbone.state_dict().items()}
    network(torch.randn(8, 1, 28, 28, generator=torch.Generator().manual_seed(1)))
    moved = {key for key, value in network.backbone.state_dict().items() if not torch.equal(value, before[key])}
    assert bool(moved) == shift_bn
    assert all("running_" in key or "num_batches" in key for key in moved)


def test_without_smoothing_the_loss_is_cross_entropy():
    loss = made(smooth_head=0.0, smooth_tail=0.0).stages()[1].loss
    logits = torch.randn(9, 3, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(9) % 3
    torch.testing.assert_close(loss.pointwise(logits, labels), F.cross_entropy(logits, labels, reduction="none"))


def test_the_smoothing_is_torchs_label_smoothing_with_a_rate_per_class():
    loss = made(smooth_head=0.4, smooth_tail=0.1).stages()[1].loss
    logits = torch.randn(9, 3, generator=torch.Generator().manual_seed(0))
    for y, smoothing in ((0, 0.4), (2, 0.1)):  # the most frequent and the rarest
        labels = torch.full((9,), y)
        expected = F.cross_entropy(logits, labels, label_smoothing=smoothing, reduction="none")
        torch.testing.assert_close(loss.pointwise(logits, labels), expected)


def test_equal_counts_divide_by_nothing():
    loss = made(counts=(20, 20, 20)).stages()[1].loss
    assert torch.isfinite(loss.pointwise(torch.zeros(3, 3), torch.arange(3))).all()


@pytest.mark.parametrize(
    ("source", "ratio", "expected"),
    [
        ("cifar10", 100, (0.3, 0.0, False, 0.5)),
        ("cifar10", 50, (0.2, 0.0, False, 0.2)),
        ("cifar10", 10, (0.1, 0.0, False, 0.2)),
        ("cifar100", 100, (0.4, 0.1, True, 0.2)),
        ("cifar100", 50, (0.3, 0.0, True, 0.1)),
        ("cifar100", 10, (0.2, 0.0, True, 0.1)),
    ],
)
def test_published_settings_go_by_the_imbalance_ratio(source, ratio, expected):
    k = int(source.removeprefix("cifar"))
    counts = torch.tensor(imbalance.counts(50_000 // k, k, ratio))
    found = MiSLAS.resolve(parse("mislas"), source, counts, {})
    assert tuple(found[key] for key in ("smooth_head", "smooth_tail", "shift_bn", "lr_factor")) == expected


def test_other_ratios_take_the_nearest_and_other_data_the_defaults():
    assert MiSLAS.published_options("cifar10", torch.tensor([5000, 62]))["smooth_head"] == 0.3
    assert MiSLAS.published_options("cifar10", torch.tensor([5000, 5000]))["smooth_head"] == 0.1
    assert MiSLAS.published_options("imagenet-lt", torch.tensor([1280, 5]))["lr_factor"] == 0.05
    assert MiSLAS.published_options("/data/ImageNet_LT_train.txt", torch.tensor([1280, 5]))["lr_factor"] == 0.05
    assert MiSLAS.published_options("shoes", torch.tensor([1280, 5])) == {}
    assert set(PUBLISHED) == {"cifar10", "cifar100", "imagenet-lt"}


def test_what_was_asked_goes_over_what_was_published():
    found = MiSLAS.resolve(parse("mislas"), "cifar10", torch.tensor([5000, 50]), {"lr_factor": 0.3})
    assert (found["lr_factor"], found["smooth_head"]) == (0.3, 0.3)


def test_the_published_rate_of_the_second_stage_is_that_of_the_first():
    asked = {"method": {"name": "mislas"}, "data": {"source": "cifar100", "corrupt": ["longtail=100"]}}
    config = resolve(asked, load_digits().train)
    assert (config.second.lr, config.second.epochs, config.second.schedule) == (0.1, 10, "cosine")


def test_a_stage_with_frozen_rows_learns_the_factors_only():
    settings = {
        "method": {"name": "mislas", "options": {"lr_factor": 0.0}},
        "backbone": {"name": "tiny"},
        "data": {"corrupt": ["longtail=20"]},
        "train": {"epochs": 2},
    }
    head = fit(load_digits(), settings).model.classifier.head
    assert not torch.equal(head.factors, torch.ones(10))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"smooth_head": 1.5}, "smooth_head must lie in"),
        ({"smooth_head": 0.1, "smooth_tail": 0.2}, "smooth_tail must not exceed smooth_head"),
        ({"lr_factor": -1}, "lr_factor must lie in"),
        ({"shift_bn": "yes"}, "shift_bn must be true or false, got 'yes'"),
        ({"smoothhead": 0.1}, "unknown option 'smoothhead' of method 'mislas'; did you mean 'smooth_head'"),
    ],
)
def test_refuses_with_the_reason(options, why):
    with pytest.raises(InputError, match=why):
        MiSLAS.resolve(parse("mislas"), "digits", torch.tensor([9, 3]), options)


def test_mixup_is_not_said_twice():
    with pytest.raises(InputError, match="its first stage has mixup already"):
        parse("mislas+mixup")

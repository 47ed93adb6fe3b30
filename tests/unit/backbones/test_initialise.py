"""Mirror of src/anchored/backbones/_initialise.py: each law against its formula, and no global randomness."""

import math

import pytest
import torch
from scipy import stats
from torch import nn

from anchored.backbones._initialise import IMAGENET, LONG_TAIL, NOISY_LABELS, PLAIN, build, fill_

CONV = lambda: nn.Conv2d(16, 64, 3)  # noqa: E731  # fan-in 144, fan-out 576
LINEAR = lambda: nn.Linear(50, 150)  # noqa: E731


def uniform(bound):
    return stats.uniform(-bound, 2 * bound)


LAWS = [
    (NOISY_LABELS, CONV, uniform(math.sqrt(6 / 144))),
    (NOISY_LABELS, LINEAR, uniform(math.sqrt(6 / 200))),
    (LONG_TAIL, CONV, stats.norm(0, math.sqrt(2 / 144))),
    (LONG_TAIL, LINEAR, stats.norm(0, math.sqrt(2 / 50))),
    (IMAGENET, CONV, stats.norm(0, math.sqrt(2 / 576))),
    (IMAGENET, LINEAR, uniform(1 / math.sqrt(50))),
    (PLAIN, CONV, uniform(math.sqrt(6 / 144))),
    (PLAIN, LINEAR, uniform(math.sqrt(6 / 50))),
]


@pytest.mark.parametrize(("law", "make", "distribution"), LAWS)
def test_weights_follow_their_law(law, make, distribution):
    weight = build(make, law, torch.Generator().manual_seed(0)).weight.detach().flatten().double().numpy()
    assert stats.kstest(weight, distribution.cdf).pvalue > 0.01
    # The test has power: a scale 10 % off is refused.
    assert stats.kstest(1.1 * weight, distribution.cdf).pvalue < 0.01


@pytest.mark.parametrize(("make", "fan_in"), [(lambda: nn.Conv2d(8, 4000, 3), 72), (lambda: nn.Linear(50, 4000), 50)])
def test_biases_keep_the_law_of_torch(make, fan_in):
    bias = build(make, NOISY_LABELS, torch.Generator().manual_seed(0)).bias.detach().double().numpy()
    assert stats.kstest(bias, uniform(1 / math.sqrt(fan_in)).cdf).pvalue > 0.01


def test_groups_count_in_the_fan():
    weight = build(lambda: nn.Conv2d(64, 512, 3, groups=32), LONG_TAIL, torch.Generator().manual_seed(0)).weight
    assert float(weight.detach().std()) == pytest.approx(math.sqrt(2 / (2 * 9)), rel=0.05)


@pytest.mark.parametrize("norm", [nn.BatchNorm1d, nn.BatchNorm2d])
def test_batch_norm_starts_as_the_identity(norm):
    made = build(lambda: norm(5), PLAIN, None)
    fresh = norm(5)
    assert {key: value.tolist() for key, value in made.state_dict().items()} == {
        key: value.tolist() for key, value in fresh.state_dict().items()
    }


def test_nothing_is_left_without_a_law():
    with pytest.raises(TypeError, match="no law for the parameters of LayerNorm"):
        fill_(nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2)), PLAIN, torch.Generator())


def test_no_generator_means_the_same_weights_every_time():
    assert torch.equal(build(LINEAR, PLAIN, None).weight, build(LINEAR, PLAIN, None).weight)


def test_on_the_meta_device_nothing_is_drawn():
    generator = torch.Generator().manual_seed(0)
    before = generator.get_state()
    with torch.device("meta"):
        layer = build(LINEAR, PLAIN, generator)
    assert layer.weight.is_meta
    assert torch.equal(generator.get_state(), before)


def test_the_module_is_trainable_and_in_the_default_precision():
    layer = build(LINEAR, PLAIN, None)
    assert layer.weight.requires_grad
    assert layer.weight.dtype == torch.get_default_dtype()
    assert layer.training

"""Mirror of src/anchored/auto/choice.py: what follows from noise and sizes, and that the user has the last word."""

import pytest
import torch

from anchored.audit import LabelNoise
from anchored.data import Dataset, TensorInputs
from anchored.runs import choose
from anchored.training import RunConfig


def law(rate, low=None):
    k = 3
    matrix = torch.full((k, k), rate / 2, dtype=torch.float64).fill_diagonal_(1 - rate)
    return LabelNoise(rate, (rate - 0.01 if low is None else low, rate + 0.01), matrix, 1.0, torch.zeros(k), 300)


def choice(rate, *, sizes=(100, 100, 100), asked=None, low=None):
    labels = torch.arange(3).repeat_interleave(torch.tensor(sizes))
    data = Dataset("toy", TensorInputs(torch.zeros(len(labels), 2)), labels, ("a", "b", "c"))
    posterior = torch.full((len(labels), 3), 0.02, dtype=torch.float64)
    posterior[torch.arange(len(labels)), labels] = 0.96
    posterior[0] = torch.tensor([0.1, 0.9, 0.0])
    config = RunConfig().change({"train": {"epochs": 50}})
    return choose(asked or {}, config, data, law(rate, low), posterior)


def test_clean_labels_are_left_alone():
    made = choice(0.004, low=0.0)
    assert made.targets is None
    assert made.settings == {"method": {"name": "ce", "noise_rate": 0.0}, "train": {"labels": "given"}}
    assert "trained on as they are" in made.text


@pytest.mark.parametrize("rate", [0.05, 0.4])
def test_noisy_labels_are_cleaned_and_training_watches_the_held_out_ones(rate):
    made = choice(rate)
    assert made.targets is not None
    assert made.settings["train"] == {"labels": "cleaned", "ema": 0.995, "early_stop": 10}
    assert made.settings["method"] == {"name": "ce+fnpal", "noise_rate": max(0.1, round(made.targets.residual, 4))}
    assert made.settings["optimizer"] == {"lr": 0.1}
    assert f"About {rate:.1%} of the labels" in made.text
    assert "doubt 1 of 300" in made.text
    assert made.facts["labels_doubted"] == 1


def test_rare_classes_bring_margins_by_the_sizes_that_the_posterior_sees():
    made = choice(0.2, sizes=(600, 60, 12))
    assert made.settings["method"]["name"] == "ldam+drw+pal"
    assert "times the smallest" in made.text
    # 300 samples are labelled c, but hardly any of them is one
    labels = torch.tensor([0] * 300 + [1] * 300 + [2] * 300)
    data = Dataset("toy", TensorInputs(torch.zeros(900, 2)), labels, ("a", "b", "c"))
    posterior = torch.tensor([[0.5, 0.49, 0.01]], dtype=torch.float64).repeat(900, 1)
    assert choose({}, RunConfig(), data, law(0.5), posterior).settings["method"]["name"] == "ldam+drw+pal"


def test_a_method_of_the_users_gets_its_rate_and_nothing_else():
    made = choice(0.4, asked={"method": {"name": "nce+rce+fnpal"}})
    assert made.targets is None
    assert made.settings["train"] == {"labels": "given"}
    assert made.settings["method"] == {"name": "nce+rce+fnpal", "noise_rate": 0.4}
    assert "as asked" in made.text


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("train", "ema", None),
        ("train", "early_stop", 3),
        ("train", "labels", "given"),
        ("method", "noise_rate", 0.3),
        ("optimizer", "lr", 0.02),
    ],
)
def test_what_the_user_set_is_not_touched(part, name, value):
    made = choice(0.4, asked={part: {name: value}})
    assert made.settings.get(part, {}).get(name, value) == value


def test_a_learning_rate_above_the_least_stays_and_other_optimisers_keep_theirs():
    labels = torch.arange(300) % 3
    data = Dataset("toy", TensorInputs(torch.zeros(300, 2)), labels, ("a", "b", "c"))
    posterior = 0.9 * torch.eye(3, dtype=torch.float64)[labels] + 0.1 / 3
    for optimizer, lr in (({"name": "sgd", "lr": 0.3}, {"lr": 0.3}), ({"name": "adamw", "lr": 0.002}, None)):
        config = RunConfig().change({"optimizer": optimizer})
        assert choose({}, config, data, law(0.3), posterior).settings.get("optimizer") == lr


@pytest.mark.parametrize(
    ("shape", "asked", "recipe", "chosen"),
    [
        ((1, 28, 28), {}, [], ["crop=2"]),
        ((3, 64, 48), {}, [], ["crop=3"]),
        ((1, 8, 8), {}, [], None),
        ((28,), {}, [], None),
        ((3, 32, 32), {}, ["crop=4", "flip"], None),
        ((1, 28, 28), {"data": {"augment": []}}, [], None),
    ],
)
def test_images_are_shifted_a_little_where_nothing_else_varies_them(shape, asked, recipe, chosen):
    labels = torch.arange(300) % 3
    data = Dataset("toy", TensorInputs(torch.zeros(300, *shape)), labels, ("a", "b", "c"))
    posterior = 0.9 * torch.eye(3, dtype=torch.float64)[labels] + 0.1 / 3
    config = RunConfig().change({"data": {"augment": recipe}})
    made = choose(asked, config, data, law(0.3), posterior)
    assert made.settings.get("data", {}).get("augment") == chosen
    assert ("shifted" in made.text) == (chosen is not None)
    assert "data" not in choose(asked, config, data, law(0.004, low=0.0), posterior).settings


def test_cleaned_labels_can_be_had_for_any_method():
    made = choice(0.4, asked={"method": {"name": "gce"}, "train": {"labels": "cleaned"}})
    assert made.targets is not None
    assert made.settings["method"]["name"] == "gce"


def test_the_facts_are_plain_values():
    import json

    json.dumps(choice(0.4).facts, allow_nan=False)

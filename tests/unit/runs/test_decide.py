"""Mirror of src/anchored/runs/decide.py: nothing stays open, what is decided stays, the user has the last word."""

import importlib

import pytest
import torch

from anchored._errors import InputError
from anchored.audit import Evidence, LabelNoise
from anchored.data import Dataset, Split, TensorInputs, load_digits
from anchored.runs import ASSUMED_NOISE_RATE, Look, RunData, complete, decide
from anchored.runs.decide import auto_method, hold_out_share, needs_look
from anchored.training import LookConfig, validate

decide_module = importlib.import_module("anchored.runs.decide")


def resolve(asked, data):
    """The configuration of a run that does not look at the labels."""
    settings = validate({**asked, "look": None})
    return decide(settings, RunData.open(Split(data), settings), None).config


def vectors(counts):
    labels = torch.arange(len(counts)).repeat_interleave(torch.tensor(counts))
    return Dataset("toy", TensorInputs(torch.zeros(len(labels), 4)), labels, tuple("abcdefgh"[: len(counts)]))


ASKED = [
    {},
    {"data": {"source": "digits"}},
    {"data": {"source": "digits", "corrupt": ["symmetric=0.4"]}, "method": {"name": "nce+rce+fnpal"}},
    {"data": {"source": "mnist"}, "method": {"name": "NCE+RCE"}, "optimizer": {"lr": 0.5}},
    {"train": {"epochs": 3, "ema": 0.9}, "data": {"augment": ["flip"], "hold_out": 0.0, "normalize": "mnist"}},
]


@pytest.mark.parametrize("asked", ASKED)
def test_deciding_again_changes_nothing(asked):
    data = load_digits().train
    config = resolve(asked, data)
    assert resolve(config.as_dict(), data) == config


@pytest.mark.parametrize("asked", ASKED)
def test_nothing_is_left_open(asked):
    config = resolve(asked, load_digits().train)
    open_values = [config.method.name, config.method.noise_rate, config.backbone.name]
    open_values += [config.data.hold_out, config.data.augment, config.data.normalize]
    assert "auto" not in open_values


def test_the_users_settings_win_over_the_recipe():
    config = resolve({"data": {"source": "mnist"}, "optimizer": {"lr": 0.5}}, load_digits().train)
    assert config.optimizer.lr == 0.5
    assert config.optimizer.weight_decay == 1e-3, "the rest is the recipe's"


def test_the_noise_rate_is_the_drawn_one_where_a_run_corrupts_and_assumed_where_nothing_is_known():
    clean = load_digits().train
    known = resolve({"data": {"corrupt": ["symmetric=0.4"]}, "method": {"name": "ce+fnpal"}}, clean)
    assert known.method.noise_rate == 0.4
    assert resolve({"method": {"name": "ce+fnpal"}}, clean).method.noise_rate == ASSUMED_NOISE_RATE
    assert resolve({"method": {"name": "ce"}}, clean).method.noise_rate == 0.0
    given = resolve({"method": {"name": "ce+fnpal", "noise_rate": 0.1}}, clean)
    assert given.method.noise_rate == 0.1


def test_data_that_has_a_name_needs_no_source():
    data = load_digits().train
    named, by_name = (resolve(asked, data) for asked in ({"data": {"source": "digits"}}, {}))
    assert named.change({"data": {"source": ""}}) == by_name


@pytest.mark.parametrize(
    ("counts", "method"),
    [([50, 50], "ce+fnpal"), ([90, 10], "ce+fnpal"), ([100, 10], "balanced-softmax+pal"), ([100, 0, 50], "ce+fnpal")],
)
def test_margins_are_chosen_where_the_largest_class_is_ten_times_the_smallest(counts, method):
    assert auto_method(vectors(counts)) == method


def test_a_set_without_labels_is_refused():
    data = Dataset("toy", TensorInputs(torch.zeros(3, 4)), torch.full((3,), -1), ("a", "b"))
    with pytest.raises(InputError, match="no labelled sample"):
        auto_method(data)


@pytest.mark.parametrize(("n", "kept"), [(10, 0), (200, 0), (201, 20), (50_000, 5_000), (1_000_000, 5_000)])
def test_how_many_are_kept_aside(n, kept):
    assert round(n * hold_out_share(n)) == kept


LOOK = LookConfig(epochs=4, batch_size=32, lr=0.1)


def law(rate, low=None):
    k = 3
    matrix = torch.full((k, k), rate / 2, dtype=torch.float64).fill_diagonal_(1 - rate)
    return LabelNoise(rate, (rate - 0.01 if low is None else low, rate + 0.01), matrix, 1.0, torch.zeros(k), 300)


def decided(rate, *, sizes=(100, 100, 100), asked=None, low=None, shape=(2,), posterior=None):
    """What is decided after a look that found this noise rate; the first label is in doubt."""
    settings = validate({"train": {"epochs": 50}, **(asked or {})})
    labels = torch.arange(3).repeat_interleave(torch.tensor(sizes))
    data = Dataset("toy", TensorInputs(torch.zeros(len(labels), *shape)), labels, ("a", "b", "c"))
    if posterior is None:
        posterior = torch.full((len(labels), 3), 0.02, dtype=torch.float64)
        posterior[torch.arange(len(labels)), labels] = 0.96
        posterior[0] = torch.tensor([0.1, 0.9, 0.0])
    look = Look(complete(settings, data), LOOK, posterior, law(rate, low), posterior)
    return decide(settings, RunData(data, data), look)


def test_clean_labels_are_left_alone():
    made = decided(0.004, low=0.0)
    assert made.trusted is None
    assert (made.config.method.name, made.config.method.noise_rate, made.config.train.labels) == ("ce", 0.0, "given")
    assert made.reasons["chosen"] == {"method": {"name": "ce", "noise_rate": 0.0}, "train": {"labels": "given"}}
    assert "trained on as they are" in made.reasons["text"]


@pytest.mark.parametrize("rate", [0.05, 0.4])
def test_noisy_labels_are_cleaned_and_training_watches_the_held_out_ones(rate):
    made = decided(rate, asked={"optimizer": {"name": "sgd"}})
    config = made.config
    assert (config.train.labels, config.train.ema, config.train.early_stop) == ("cleaned", 0.995, 10)
    assert config.method.name == "ce+fnpal"
    assert config.method.noise_rate == max(0.1, round(made.trusted.residual, 4))
    assert config.optimizer.lr == 0.1
    assert f"About {rate:.1%} of the labels" in made.reasons["text"]
    assert "doubt 1 of 300" in made.reasons["text"]
    # what is left may be less than the rate that the scale is set for, which would look like a contradiction
    assert ("the least that is assumed" in made.reasons["text"]) == (made.trusted.residual < 0.1)
    assert made.reasons["labels_doubted"] == 1


def test_rare_classes_bring_balanced_softmax_for_the_sizes_as_they_are_learnt():
    made = decided(0.2, sizes=(600, 60, 12))
    assert made.config.method.name == "balanced-softmax+pal"
    assert "times the smallest" in made.reasons["text"]
    weights, labels = made.trusted.dataset.weights, made.trusted.dataset.labels
    assert made.config.method.loss["counts"] == pytest.approx(
        [float(weights[labels == j].sum()) for j in range(3)], abs=0.06
    )
    # 300 samples are labelled c, but hardly any of them is one
    posterior = torch.tensor([[0.5, 0.49, 0.01]], dtype=torch.float64).repeat(900, 1)
    assert decided(0.5, sizes=(300, 300, 300), posterior=posterior).config.method.name == "balanced-softmax+pal"
    clean = decided(0.004, low=0.0, sizes=(600, 60, 12))
    assert (clean.config.method.name, clean.config.method.loss) == ("balanced-softmax", {})


@pytest.mark.parametrize("treatment", ["sure", "replaced"])
def test_a_treatment_that_is_asked_for_is_taken(treatment):
    made = decided(0.2, asked={"train": {"epochs": 50, "labels": treatment}})
    assert made.config.train.labels == treatment
    assert "train.labels" not in made.config.look.decided
    learnt = made.trusted.dataset
    label, weight = {"sure": (0, 0.0), "replaced": (1, 0.9)}[treatment]
    assert int(learnt.labels[0]) == label
    assert float(learnt.weights[0]) == pytest.approx(weight)


@pytest.mark.parametrize(("chosen", "said"), [("given", "as they are given, which makes"), ("cleaned", "no other")])
def test_vectors_are_treated_as_the_evidence_says(monkeypatch, chosen, said):
    told = Evidence({"given": -0.5, "cleaned": -0.6}, {"given": 3.0, "cleaned": 0.0}, chosen)
    monkeypatch.setattr(decide_module, "_evidence", lambda *given: told)
    made = decided(0.2)
    assert made.config.train.labels == chosen
    assert (made.trusted is None) == (chosen == "given")
    assert said in made.reasons["text"]
    assert "given -0.500, cleaned -0.600" in made.reasons["text"]
    assert made.reasons["treatments"] == {"given": -0.5, "cleaned": -0.6}


def test_a_method_of_the_users_gets_its_rate_and_nothing_else():
    made = decided(0.4, asked={"method": {"name": "nce+rce+fnpal"}})
    assert made.trusted is None
    assert made.config.train.labels == "given"
    assert (made.config.method.name, made.config.method.noise_rate) == ("nce+rce+fnpal", 0.4)
    assert made.config.look.decided == ("method.noise_rate", "train.labels")
    assert "as asked" in made.reasons["text"]


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
    made = decided(0.4, asked={part: {name: value}})
    assert getattr(getattr(made.config, part), name) == value
    assert f"{part}.{name}" not in made.config.look.decided


def test_a_learning_rate_above_the_least_stays_and_other_optimisers_keep_theirs():
    assert decided(0.3, asked={"optimizer": {"name": "adamw"}}).config.optimizer.lr == 0.002
    images = {"data": {"source": "digits"}}  # a recipe with SGD at 0.05
    assert decided(0.3, asked=images, shape=(1, 8, 8)).config.optimizer.lr == 0.1


@pytest.mark.parametrize(
    ("shape", "asked", "chosen"),
    [
        ((1, 28, 28), {"data": {"source": "mnist"}}, ("crop=2",)),
        ((1, 64, 48), {"data": {"source": "mnist"}}, ("crop=3",)),
        ((1, 8, 8), {"data": {"source": "digits"}}, ()),
        ((28,), {}, ()),
        ((3, 32, 32), {}, ("crop=4", "flip")),
        ((1, 28, 28), {"data": {"source": "mnist", "augment": []}}, ()),
    ],
)
def test_images_are_shifted_a_little_if_nothing_else_varies_them(shape, asked, chosen):
    made = decided(0.3, asked=asked, shape=shape)
    assert made.config.data.augment == chosen
    assert ("shifted" in made.reasons["text"]) == ("data.augment" in made.config.look.decided) == (len(chosen) == 1)
    clean = decided(0.004, low=0.0, asked=asked, shape=shape)
    assert "data.augment" not in clean.config.look.decided


def test_cleaned_labels_can_be_had_for_any_method():
    made = decided(0.4, asked={"method": {"name": "gce"}, "train": {"labels": "cleaned"}})
    assert made.trusted is not None
    assert made.config.method.name == "gce"


def test_cleaned_labels_without_a_look_are_refused():
    with pytest.raises(InputError, match=r"train\.labels = cleaned needs a look"):
        resolve({"train": {"labels": "cleaned"}}, vectors([300, 300]))


def test_the_reasons_are_plain_values():
    import json

    json.dumps(decided(0.4).reasons, allow_nan=False)


def test_the_configuration_of_a_run_is_decided_already_and_gives_the_same_reasons():
    settings = validate({})
    labels = torch.arange(300) % 3
    data = Dataset("toy", TensorInputs(torch.zeros(300, 2)), labels, ("a", "b", "c"))
    posterior = 0.9 * torch.eye(3, dtype=torch.float64)[labels] + 0.1 / 3
    look = Look(complete(settings, data), LOOK, posterior, law(0.3), posterior)
    first = decide(settings, RunData(data, data), look)
    kept = validate(first.config.as_dict())
    again = decide(kept, RunData(data, data), Look(complete(kept, data), kept.look, posterior, law(0.3), posterior))
    assert again.config == first.config
    assert again.reasons == first.reasons
    assert torch.equal(again.trusted.dataset.weights, first.trusted.dataset.weights)


@pytest.mark.parametrize(
    ("settings", "looks"),
    [
        ({}, True),
        ({"look": None}, False),
        ({"method": {"name": "ce"}}, False),
        ({"method": {"name": "ce"}, "look": {"epochs": 3, "batch_size": 8, "lr": 0.1}}, True),
        ({"method": {"name": "ce"}, "train": {"labels": "cleaned"}}, True),
        ({"method": {"name": "ce+fnpal"}}, True),
        ({"method": {"name": "ce+fnpal", "noise_rate": 0.3}}, False),
        ({"method": {"name": "ce+fnpal", "scale": 2.0}}, False),
        ({"method": {"name": "ce+fnpal"}, "data": {"corrupt": ["symmetric=0.4"]}}, False),
        ({"method": {"name": "ce+fnpal", "noise_rate": "auto"}, "data": {"corrupt": ["symmetric=0.4"]}}, True),
        ({"method": {"name": "ce+fnpal"}, "data": {"corrupt": ["longtail=5"]}}, True),
    ],
)
def test_it_looks_only_if_something_depends_on_it(settings, looks):
    assert needs_look(validate(settings), vectors([100] * 4)) is looks


def test_a_handful_of_samples_is_not_looked_at():
    assert not needs_look(validate({}), vectors([30] * 4))


@pytest.mark.parametrize(("contradicted", "method"), [(0.1, "ce+fnpal"), (0.3, "ce+fnpal"), (0.6, "ce")])
def test_contradictions_of_a_weak_judge_are_its_own_and_not_noise(contradicted, method):
    """At an estimated rate of 0.12: most contradictions are put down to the labels, some, or hardly any."""
    settings = validate({"train": {"epochs": 50}})
    labels = torch.arange(300) % 3
    data = Dataset("toy", TensorInputs(torch.zeros(300, 2)), labels, ("a", "b", "c"))
    posterior = 0.9 * torch.eye(3, dtype=torch.float64)[labels] + 0.1 / 3
    look = Look(complete(settings, data), LOOK, posterior, law(0.12, 0.0), posterior, contradicted=contradicted)
    assert decide(settings, RunData(data, data), look).config.method.name == method


def test_an_unknown_normalisation_is_refused_for_every_method():
    for method in ("ce", "ridge"):
        with pytest.raises(InputError, match="unknown normalisation 'mnits'; choose from fit"):
            resolve({"method": {"name": method}, "data": {"normalize": "mnits"}}, vectors([60, 40]))

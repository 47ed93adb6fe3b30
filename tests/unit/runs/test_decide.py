"""Mirror of src/anchored/training/resolve.py: nothing is left open, and what is decided stays decided."""

import pytest
import torch
from anchored.training.resolve import ASSUMED_NOISE_RATE, auto_method, hold_out_share, resolve

from anchored._errors import InputError
from anchored.data import Dataset, TensorInputs, corrupt, load_digits


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
def test_resolving_again_changes_nothing(asked):
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
    noisy = corrupt(clean, "symmetric=0.4", seed=0).dataset
    known = resolve({"data": {"corrupt": ["symmetric=0.4"]}, "method": {"name": "ce+fnpal"}}, noisy)
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
    [([50, 50], "ce+fnpal"), ([90, 10], "ce+fnpal"), ([100, 10], "ldam+drw+pal"), ([100, 0, 50], "ce+fnpal")],
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

"""Mirror of src/anchored/training/config.py: round trips, overrides, and one line for every mistake."""

from typing import get_args

import pytest
import yaml

from anchored._errors import InputError
from anchored.methods.build import Anchors
from anchored.training import MethodConfig, RunConfig, merge, parse_settings, validate


def test_yaml_round_trip():
    config = RunConfig().change({"train": {"epochs": 7}, "method": {"loss": {"q": 0.5}}, "data": {"corrupt": ["a=1"]}})
    assert validate(yaml.safe_load(config.to_yaml())) == config


def test_the_hash_names_the_content():
    base = RunConfig()
    assert base.content_hash == RunConfig().content_hash
    assert base.change({"train": {"seed": 1}}).content_hash != base.content_hash
    elsewhere = base.change({"data": {"root": "/elsewhere"}, "train": {"checkpoint_seconds": 1.0}})
    assert elsewhere.content_hash == base.content_hash


OLD = {
    "5cd06d6c3cc2": {},
    "d900d0ce3682": {
        "data": {"source": "cifar100", "corrupt": ["longtail=100"]},
        "method": {"name": "mislas+pal", "anchors": "random", "options": {"lr_factor": 0.2}},
        "second": {"epochs": 10, "lr": 0.01},
        "train": {"epochs": 200, "labels": "given"},
    },
    "0169f7439321": {
        "train": {"labels": "cleaned", "device": "cpu"},
        "method": {"name": "ce+fnpal", "noise_rate": 0.4},
    },
}


@pytest.mark.parametrize("name", OLD)
def test_settings_that_came_later_leave_the_names_of_older_configurations(name):
    config = validate(OLD[name])
    assert config.content_hash == name
    assert config.change({"train": {"class_run": 4}}).content_hash != name


def test_anchors_are_those_that_methods_can_make():
    assert get_args(MethodConfig.model_fields["anchors"].annotation) == get_args(Anchors)


def test_how_often_the_test_set_is_scored_may_be_a_number_and_yes_and_no_stay_what_they_were():
    base = RunConfig()
    assert base.train.evaluate is True
    assert [base.change({"train": {"evaluate": value}}).train.evaluate for value in (5, 1, 0, False)] == [
        5,
        True,
        False,
        False,
    ]
    assert base.change({"train": {"evaluate": 1}}).content_hash == base.content_hash
    assert len({base.change({"train": {"evaluate": value}}).content_hash for value in (True, False, 2, 5)}) == 4
    rare = base.change({"train": {"evaluate": 5}})
    assert validate(yaml.safe_load(rare.to_yaml())) == rare


def test_changes_do_not_touch_the_original():
    base = RunConfig()
    assert base.change({"train": {"epochs": 3}}).train.epochs == 3
    assert base.train.epochs == RunConfig().train.epochs
    tree = {"a": {"b": 1}}
    merge(tree, {"a": {"b": 2}})
    assert tree == {"a": {"b": 1}}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"train": {"epoch": 3}}, r"unknown setting 'train.epoch' in the configuration; did you mean 'epochs'"),
        ({"trian": {}}, "unknown setting 'trian'.*did you mean 'train'"),
        ({"train": {"epochs": 0}}, r"setting 'train.epochs' .* greater than or equal to 1, got 0"),
        ({"train": {"evaluate": -2}}, r"setting 'train.evaluate' in .*, got -2"),
        ({"train": {"epochs": "many"}}, r"setting 'train.epochs' .* got 'many'"),
        ({"method": {"anchors": "aligend"}}, r"setting 'method.anchors'.*got 'aligend'"),
        ({"method": {"noise_rate": "high"}}, r"setting 'method.noise_rate'.*got 'high'"),
        ({"method": {"noise_rate": float("nan")}}, r"setting 'method.noise_rate' in .*: input .*, got nan"),
        ({"method": {"scale": -1}}, r"setting 'method.scale' in .*: input should be greater than 0, got -1"),
        ({"data": {"hold_out": 1}}, r"setting 'data.hold_out' in .*: input should be less than or equal to 0.9, got 1"),
        (
            {"optimizer": {"lr": float("inf")}},
            r"setting 'optimizer.lr' in .*: input should be a finite number, got inf",
        ),
        ({"train": 3}, "setting 'train'"),
    ],
)
def test_a_mistake_gets_one_line(values, message):
    with pytest.raises(InputError, match=message) as caught:
        validate(values)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("train.epochs=3", {"train": {"epochs": 3}}),
        ("optimizer.lr=1e-3", {"optimizer": {"lr": "1e-3"}}),
        ("data.corrupt=[symmetric=0.4]", {"data": {"corrupt": ["symmetric=0.4"]}}),
        ("optimizer.clip=null", {"optimizer": {"clip": None}}),
    ],
)
def test_settings_are_read_as_yaml(text, tree):
    assert parse_settings([text]) == tree


def test_yamls_reading_of_1e_3_as_text_still_gives_a_number():
    assert validate(parse_settings(["optimizer.lr=1e-3"])).optimizer.lr == 0.001


def test_several_settings_of_one_part_are_merged():
    assert parse_settings(["a.b=1", "a.c=2", "a.b=3"]) == {"a": {"b": 3, "c": 2}}


@pytest.mark.parametrize("text", ["train.epochs", "=3", "a..b=1", ".a=1"])
def test_a_setting_without_path_or_value_is_refused(text):
    with pytest.raises(InputError, match="--set takes path=value"):
        parse_settings([text])

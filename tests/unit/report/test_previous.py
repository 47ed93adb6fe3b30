"""Mirror of src/anchored/report/_previous.py: which run is the one before, and what differs."""

import json
import os
import shutil

import pytest

from anchored._errors import InputError
from anchored.report._previous import find_previous, read_previous, settings_that_differ
from anchored.runs import RunFolder
from anchored.training import RunConfig


def copied(run, folder, *, time, source=None):
    shutil.copytree(run.path, folder, ignore=shutil.ignore_patterns("checkpoint", "*.safetensors"))
    copy = RunFolder.open(folder)
    if source is not None:
        config = copy.read_config().change({"data": {"source": source}})
        (folder / "config.yaml").write_text(config.to_yaml(), encoding="utf-8")
    os.utime(folder / "result.json", (time, time))
    return copy


def test_the_newest_of_the_earlier_ones_of_the_same_data_is_taken(digits_run, tmp_path):
    copied(digits_run, tmp_path / "oldest", time=100)
    copied(digits_run, tmp_path / "before", time=200)
    copied(digits_run, tmp_path / "other data", time=250, source="mnist")
    run = copied(digits_run, tmp_path / "run", time=300)
    copied(digits_run, tmp_path / "later", time=400)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "result.json").write_text("{")
    (tmp_path / "broken" / "config.yaml").write_text("[")
    assert find_previous(run).path.name == "before"


def test_a_later_one_is_better_than_none(digits_run, tmp_path):
    run = copied(digits_run, tmp_path / "run", time=300)
    assert find_previous(run) is None
    copied(digits_run, tmp_path / "later", time=400)
    assert find_previous(run).path.name == "later"


def test_a_run_that_was_asked_for_must_be_finished(digits_run, tmp_path):
    run = copied(digits_run, tmp_path / "run", time=300)
    assert read_previous(run.path).class_names == tuple("0123456789")
    (run.path / "result.json").unlink()
    with pytest.raises(InputError, match="not finished"):
        read_previous(run.path)
    with pytest.raises(InputError, match="holds no run"):
        read_previous(tmp_path)


def test_only_what_decides_the_result_counts_as_different():
    now = RunConfig().change({"train": {"workers": 7, "seed": 3}, "data": {"root": "x", "corrupt": ["symmetric=0.2"]}})
    differ = {each.setting: (each.before, each.now) for each in settings_that_differ(RunConfig(), now)}
    assert differ == {"data.corrupt": ("none", "symmetric=0.2"), "train.seed": ("0", "3")}


def test_a_setting_that_only_one_of_them_has_differs():
    before = RunConfig().change({"method": {"loss": {"q": 0.5}}})
    differ = json.dumps([each.setting for each in settings_that_differ(before, RunConfig())])
    assert "method.loss" in differ

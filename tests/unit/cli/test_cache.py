"""Mirror of src/anchored/cli/cache.py: the list, and clearing all or one."""

import json

import pytest
import torch
from typer.testing import CliRunner

from anchored import InputError
from anchored.cli import app
from anchored.features import FeatureCache


def call(*arguments):
    return CliRunner().invoke(app, ["cache", *arguments])


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setenv("ANCHORED_CACHE", str(tmp_path))
    cache = FeatureCache()
    for encoder in ("one", "two"):
        cache.space(encoder, "d", "texts").add([bytes(16)], torch.zeros(1, 3))
    return cache


def test_lists_what_is_kept(kept, tmp_path):
    told = json.loads(call("--json").stdout)
    assert told["folder"] == str(tmp_path)
    assert sorted(entry["encoder"] for entry in told["entries"]) == ["one", "two"]
    assert told["bytes"] == sum(entry["bytes"] for entry in told["entries"]) > 0
    shown = call().stdout
    assert "Features kept in" in shown
    assert "anchored cache --clear" in shown


def test_clears_one_and_then_all(kept):
    one = next(entry for entry in kept.entries() if entry.encoder == "one")
    assert json.loads(call("--clear", "--name", one.space[:10], "--json").stdout)["freed"] >= one.bytes
    assert [entry.encoder for entry in kept.entries()] == ["two"]
    assert "are free again" in call("--clear").stdout
    assert kept.entries() == []
    assert json.loads(call("--json").stdout)["entries"] == []


@pytest.mark.usefixtures("kept")
def test_refusals():
    assert isinstance(call("--name", "x").exception, InputError)
    assert "must be the beginning of one name" in str(call("--clear", "--name", "zzz").exception)

"""Mirror of src/anchored/cli/paper.py: commands, what they print, and what they refuse before anything is written."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.unit.paper.tiny import TINY, record
from typer.testing import CliRunner

from anchored import InputError
from anchored.cli import app
from anchored.paper import TABLES, Placement, Results
from anchored.paper.engines import InlineEngine
from anchored.paper.figures import FIGURES, names


@pytest.fixture(autouse=True)
def _tiny(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(TABLES, "tiny", TINY)
    monkeypatch.setattr("anchored.paper.engines.get", lambda name, place, **_: InlineEngine(place))


def call(*arguments):
    return CliRunner().invoke(app, ["paper", *map(str, arguments)])


def refused(*arguments):
    error = call(*arguments).exception
    assert isinstance(error, InputError)
    return str(error)


def test_tables_are_listed_with_what_is_done(tmp_path):
    Results(tmp_path / "results").add(record())
    Results(tmp_path / "results").add(record(epochs=1))
    Results(tmp_path / "results").add(record(precision="bf16"))
    listed = json.loads(call("list", "--json").stdout)
    tiny = next(table for table in listed["tables"] if table["table"] == "tiny")
    assert {name: tiny[name] for name in ("rows", "cells", "seeds", "runs", "published", "done", "shortened")} == {
        "rows": 3,
        "cells": 2,
        "seeds": 2,
        "runs": 12,
        "published": 3,
        "done": 1,
        "shortened": 1,
    }
    assert "noise_symmetric" in call("list").output


def test_the_test_set_may_be_scored_now_and_then_and_once_per_epoch_is_not_marked(tmp_path):
    for every in ("1", "2"):
        call("run", "tiny", "--cell", "digits/0.0", "--method", "ce", "--seeds", "0", "--evaluate-every", every)
    marked, plain = sorted(Results(tmp_path / "results").read("tiny"), key=lambda each: "evaluate_every" not in each)
    assert marked["evaluate_every"] == 2
    assert marked["last"] == plain["last"]
    assert "evaluate" not in plain["settings"]["train"]


def test_a_cell_is_run_once_and_recorded(tmp_path):
    arguments = ("run", "tiny", "--cell", "digits/0.0", "--method", "ce", "--seeds", "3", "--epochs", "1", "--json")
    first = json.loads(call(*arguments).stdout)
    (run,) = first["finished"]
    assert (run["cell"], run["method"], run["seed"], run["shortened"]) == ("digits/0.0", "ce", 3, True)
    assert run["run"].startswith(str(tmp_path / "runs" / "paper"))
    second = json.loads(call(*arguments).stdout)
    assert [each["seed"] for each in second["skipped"]] == [3]
    assert len(Results(tmp_path / "results").read("tiny")) == 1


def test_a_cell_in_mixed_precision_is_a_run_of_its_own(tmp_path):
    arguments = ("run", "tiny", "--cell", "digits/0.0", "--method", "ce", "--seeds", "3", "--json")
    call(*arguments)
    (run,) = json.loads(call(*arguments, "--precision", "bf16").stdout)["finished"]
    assert (run["precision"], run["shortened"]) == ("bf16", False)
    made = Results(tmp_path / "results").read("tiny")
    assert [each["precision"] for each in made] == ["32", "bf16"]
    assert made[0]["history"]["train_loss"] != made[1]["history"]["train_loss"]


def test_a_slow_precision_is_warned_of_once_before_the_first_cell(monkeypatch):
    monkeypatch.setattr("anchored.training.runtime.emulates_bfloat16", lambda device: True)
    arguments = ("run", "tiny", "--cell", "digits/0.0", "--method", "ce", "--seeds", "3,4", "--epochs", "1")
    first, *rest = call(*arguments, "--precision", "bf16").stderr.splitlines()
    assert first.startswith("anchored: precision bf16 is slower than 32 here")
    assert first.endswith("; take precision 32")
    assert rest
    assert not [line for line in rest if "slower" in line]
    assert "slower" not in call(*arguments).stderr
    # On a cluster the cells run on other machines than this one.
    assert "slower" not in call(*arguments, "--precision", "bf16", "--on", "slurm").stderr


def test_a_failed_cell_is_told_and_ends_with_one(monkeypatch):
    monkeypatch.setattr("anchored.paper.worker.fit", lambda *_, **__: 1 / 0)
    ended = call("run", "tiny", "--cell", "digits/0.0", "--method", "ce", "--seeds", "0")
    assert ended.exception.code == 1
    assert "failed: ZeroDivisionError: division by zero" in ended.output + ended.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("tinny",), "unknown table 'tinny'; did you mean 'tiny'"),
        (("tiny", "--method", "cee"), "unknown method of table tiny: 'cee'; did you mean 'ce'"),
        (("tiny", "--cell", "digits/7"), "unknown cell of table tiny: 'digits/7'; did you mean"),
        (("tiny", "--seeds", "0,x"), "--seeds takes whole numbers separated by commas"),
        (("tiny", "--device", "cudda"), "cudda"),
        (("tiny", "--precision", "bf61"), "'bf61'"),
        (("noise_symmetric", "--cell", "mnist/0.8", "--data-root", "."), "anchored data mnist --root"),
        (("noise_symmetric", "--cell", "mnist/0.8"), "--data-root"),
        (("tiny", "--slurm", "partition"), "--slurm takes name=value"),
    ],
)
def test_refuses_in_one_line_and_writes_nothing(arguments, words, tmp_path):
    said = refused("run", *arguments)
    assert words in said
    assert "\n" not in said
    assert list(tmp_path.iterdir()) == []


def test_comparisons_come_in_four_formats(tmp_path):
    Results(tmp_path / "results").add(record())
    assert "| CE | ours | 90.00 |" in call("compare", "tiny").output
    assert "\\begin{table}" in call("compare", "tiny", "--format", "latex").output
    assert "tiny,ce,digits/0.0,accuracy" in call("compare", "tiny", "--format", "csv", "--only-run").output
    assert call("compare", "tiny", "--format", "html", "--out", "page.html").output == "written to page.html\n"
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    assert json.loads(call("compare", "tiny", "--json").stdout)["entries"][0]["mean"] == 90.0
    assert "unknown format 'mardown'; did you mean 'markdown'" in refused("compare", "tiny", "--format", "mardown")


def test_the_page_of_results_is_written(tmp_path, monkeypatch):
    monkeypatch.delitem(TABLES, "tiny")  # it has no file that could state its cost
    assert call("docs", "--out", "results.md").exit_code == 0
    assert "## `noise_symmetric`" in (tmp_path / "results.md").read_text()


def test_a_figure_is_drawn_by_its_own_file(monkeypatch, tmp_path):
    asked = {}

    def make(*, out, **options):
        asked.update(options)
        return out

    drawing = SimpleNamespace(name="scale", claim="a line", make=make)
    monkeypatch.setattr(names, "FIGURES", {"scale": drawing})
    printed = call("figure", "scale", "--epochs", "3", "--quick", "--data-root", "data", "--json")
    assert json.loads(printed.stdout) == {"figure": "scale", "file": "scale.svg"}
    assert (asked["epochs"], asked["quick"], asked["data_root"]) == (3, True, tmp_path / "data")
    assert asked["store"] == tmp_path / "runs" / "paper"
    assert asked["results"] == Path("results")
    assert "unknown figure 'scales'; did you mean 'scale'" in refused("figure", "scales")
    listed = json.loads(call("list", "--json").stdout)["figures"]
    assert {"figure": "scale", "claim": FIGURES["scale"].claim} in listed


def test_settings_for_slurm_are_numbers_or_words():
    from anchored.cli.paper import _parameters

    assert _parameters(["timeout_min=60", "slurm_partition=gpu"]) == {"timeout_min": 60, "slurm_partition": "gpu"}


def test_a_place_is_absolute(monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr(
        "anchored.paper.engines.get", lambda name, place, **_: seen.append(place) or InlineEngine(place)
    )
    call(
        "run", "tiny", "--cell", "digits/0.0", "--method", "ce", "--seeds", "0", "--epochs", "1", "--data-root", "data"
    )
    assert seen == [Placement(str(tmp_path / "runs" / "paper"), str(tmp_path / "data"), 1, "auto")]

"""Mirror of src/anchored/cli/bench.py: results as a table or as JSON, an unknown name refused."""

import importlib
import json
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from anchored import InputError
from anchored import bench as benchmarks
from anchored.cli import app


@pytest.fixture(autouse=True)
def _one_benchmark(monkeypatch):
    result = SimpleNamespace(
        title="toy", columns=["what", "ratio"], rows=[["a", 0.123456]], note="", facts={"n": 3}, more=()
    )
    monkeypatch.setattr("anchored.bench.BENCHMARKS", {"toy": "toy_module"})
    monkeypatch.setattr("importlib.import_module", lambda name: SimpleNamespace(run=lambda: result))


def test_prints_a_table_by_default():
    printed = CliRunner().invoke(app, ["bench"])
    assert printed.exit_code == 0
    assert "0.1235" in printed.output


def test_prints_one_json_object():
    printed = json.loads(CliRunner().invoke(app, ["bench", "toy", "--json"]).stdout)
    assert printed == {"toy": {"columns": ["what", "ratio"], "rows": [["a", 0.123456]], "note": "", "n": 3}}


def test_refuses_an_unknown_name():
    error = CliRunner().invoke(app, ["bench", "toyy"]).exception
    assert isinstance(error, InputError)
    assert "did you mean 'toy'" in str(error)


def test_options_reach_the_benchmarks_that_take_them(monkeypatch):
    given = {}
    result = SimpleNamespace(title="toy", columns=["what"], rows=[["a"]], note="", facts={}, more=())
    monkeypatch.setattr(benchmarks, "LONG", ("toy",))
    monkeypatch.setattr(
        importlib, "import_module", lambda name: SimpleNamespace(run=lambda **g: given.update(g) or result)
    )
    flags = ["--data-root", "R", "--seeds", "0,1,2", "--epochs", "3", "--store", "S", "--sets", "iris,wine"]
    flags += ["--models", "MLP;cleanlab, logistic"]
    assert CliRunner().invoke(app, ["bench", "toy", *flags]).exit_code == 0
    given.pop("tell")("a row")
    names = {"sets": ("iris", "wine"), "models": ("MLP", "cleanlab, logistic")}
    assert given == {"data_root": "R", "seeds": (0, 1, 2), "epochs": 3, "store": "S", **names}


def test_further_tables_are_shown_too(monkeypatch):
    part = benchmarks.Result("by set", ("set",), (("iris",),))
    whole = benchmarks.Result("toy", ("what",), (("a",),), more=(part,))
    monkeypatch.setattr(importlib, "import_module", lambda name: SimpleNamespace(run=lambda: whole))
    assert "iris" in CliRunner().invoke(app, ["bench", "toy"]).output
    printed = json.loads(CliRunner().invoke(app, ["bench", "toy", "--json"]).stdout)
    assert printed["toy"]["more"] == {"by set": {"columns": ["set"], "rows": [["iris"]], "note": ""}}


def test_an_option_that_a_long_benchmark_does_not_take_is_refused(monkeypatch):
    monkeypatch.setattr(benchmarks, "LONG", ("toy",))
    error = CliRunner().invoke(app, ["bench", "toy", "--seeds", "1"]).exception
    assert isinstance(error, InputError)
    assert str(error) == "--seeds means nothing to bench toy; leave it out"


def test_what_is_measured_is_told_beside_the_result():
    done = CliRunner().invoke(app, ["bench", "toy", "--json"])
    assert done.stderr == "anchored: measuring toy\n"
    assert json.loads(done.stdout)["toy"]["n"] == 3


def test_long_benchmarks_run_only_when_they_are_named(monkeypatch):
    monkeypatch.setattr(benchmarks, "LONG", ("toy",))
    printed = CliRunner().invoke(app, ["bench"])
    assert printed.exit_code == 0
    assert "toy" not in printed.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["toy", "--epochs", "3"], "--epochs is for bench"), (["audit", "--seeds", "one"], "--seeds takes whole numbers")],
)
def test_refuses_options_that_mean_nothing(monkeypatch, arguments, said):
    monkeypatch.setattr(benchmarks, "BENCHMARKS", {"toy": "toy_module", "audit": "toy_module"})
    error = CliRunner().invoke(app, ["bench", *arguments]).exception
    assert isinstance(error, InputError)
    assert said in str(error)

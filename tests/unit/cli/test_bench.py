"""Mirror of src/anchored/cli/bench.py: results as a table or as JSON, an unknown name refused."""

import json
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from anchored import InputError
from anchored.cli import app


@pytest.fixture(autouse=True)
def _one_benchmark(monkeypatch):
    result = SimpleNamespace(title="toy", columns=["what", "ratio"], rows=[["a", 0.123456]], note="", facts={"n": 3})
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

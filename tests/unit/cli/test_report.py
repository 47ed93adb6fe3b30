"""Mirror of src/anchored/cli/report.py: where the file is, what it says as JSON, and that it never costs a run."""

import json
import shutil

import pytest
import torch
from typer.testing import CliRunner

from anchored.cli import app
from anchored.cli import report as module_of_report
from anchored.cli.report import Patience, write_after_training
from anchored.cli.train import show, train
from anchored.data import Dataset, Split, TensorInputs
from anchored.runs import RunFolder


def call(*arguments):
    return CliRunner().invoke(app, ["report", *map(str, arguments)])


@pytest.fixture
def copy(table_run, tmp_path):
    return shutil.copytree(table_run.path, tmp_path / "run")


def test_the_path_is_printed_and_the_file_is_there(copy):
    done = call(copy)
    assert done.exit_code == 0, done.output
    assert done.stdout == f"the report is in {copy / 'report.html'}\n"
    assert "<h1>A model trained on train.csv</h1>" in (copy / "report.html").read_text(encoding="utf-8")


def test_json_holds_what_to_take_from_each_section(copy, tmp_path):
    printed = json.loads(call(copy, "--out", tmp_path / "r.html", "--compare", copy, "--json").stdout)
    assert printed["report"] == str(tmp_path / "r.html")
    assert printed["compared_with"] == str(copy)
    assert printed["missing"] == []
    leads = {section["id"]: section["lead"] for section in printed["sections"]}
    assert "cannot be compared" in leads["comparison"]  # so small a table has nothing held out
    assert "3 classes" in leads["trained"]
    assert not (copy / "report.html").exists()


def test_what_is_missing_is_told_on_stderr(copy):
    (copy / "audit").mkdir()
    (copy / "audit" / "audit.json").write_text("{")
    done = call(copy)
    assert done.exit_code == 0
    assert "anchored: the audit was left out" in done.stderr


def test_the_end_of_training_writes_it_and_says_where(tmp_path, capsys):
    data = Dataset("toy", TensorInputs(torch.eye(2).repeat(20, 1)), torch.arange(40) % 2, ("a", "b"))
    run = RunFolder(tmp_path / "run")
    settings = {"train": {"epochs": 1}, "data": {"hold_out": 0.25, "source": "toy"}}
    train(Split(data), settings, run, draw=True)
    show(run, json=False)
    assert capsys.readouterr().out.endswith(f"the report is in {run.path / 'report.html'}\n")
    show(run, json=True)
    assert json.loads(capsys.readouterr().out)["report"] == str(run.path / "report.html")


def test_a_report_that_fails_costs_one_line_and_not_the_run(copy, monkeypatch, capsys):
    import anchored.report

    def fail(*_arguments, **_options):
        raise RuntimeError("no ink\nleft")

    monkeypatch.setattr(anchored.report, "write", fail)
    assert write_after_training(copy, Split(None)) is None
    (line,) = capsys.readouterr().err.splitlines()
    assert "the run is finished, but its report was not written (no ink left)" in line
    assert f"anchored report {copy}" in line


def test_only_those_who_wait_are_told(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(module_of_report.time, "monotonic", lambda: now[0])
    patience = Patience()
    patience.tell(1, 10)
    now[0] = 5.0
    patience.tell(4, 10)
    patience.tell(5, 10)
    now[0] = 50.0
    patience.tell(10, 10)
    assert capsys.readouterr().err == "anchored: asked the model about 4 of 10 samples\n"

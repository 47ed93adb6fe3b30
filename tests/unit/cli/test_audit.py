"""Mirror of src/anchored/cli/audit.py: the two files, what is kept in the run, and what is refused."""

import json
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

from anchored import InputError
from anchored.audit import Audit, CrossFit
from anchored.audit.suspects import COLUMNS
from anchored.cli import app


def call(*arguments):
    return CliRunner().invoke(app, ["audit", *map(str, arguments)])


@pytest.fixture(scope="module")
def audited(table_run, tmp_path_factory):
    """A copy of the run, audited once, and what was printed."""
    folder = tmp_path_factory.mktemp("audited")
    shutil.copytree(table_run.path, folder / "run")
    printed = call(folder / "run", "--out", folder / "out", "--format", "json", "--json")
    assert printed.exit_code == 0, printed.exception
    return folder, json.loads(printed.stdout)


def test_every_training_sample_is_ranked(audited):
    folder, printed = audited
    lines = (folder / "out" / "suspects.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == ",".join(COLUMNS)
    assert len(lines) == 201
    assert sorted(Audit.load(folder / "out").suspects.column("index")) == list(range(200))
    assert printed["samples"] == 200
    assert printed["class_names"] == ["no", "yes", "ä <b>"]
    assert printed["noise_rate"] < 0.1


def test_the_run_keeps_a_copy_and_what_the_two_models_said(audited):
    folder, _ = audited
    for name in ("suspects.csv", "audit.json", "suspects.json"):
        assert (folder / "run" / "audit" / name).read_bytes() == (folder / "out" / name).read_bytes()
    assert CrossFit.load(folder / "run" / "look", n=200) is not None


def test_a_second_audit_trains_nothing_and_says_the_same(audited, monkeypatch):
    folder, printed = audited
    monkeypatch.setattr("anchored.audit.cross_fit", None)
    again = call(folder / "run", "--json")
    assert again.exit_code == 0, again.exception
    assert {**json.loads(again.stdout), "out": ""} == {**printed, "out": ""}


def test_the_table_shows_the_first_ten(audited):
    folder, _ = audited
    shown = call(folder / "run").output
    assert "of the 200 labels are wrong" in shown
    assert "wrong with probability" in shown
    assert str(folder / "run" / "audit" / "suspects.csv") in shown


def test_quick_asks_the_runs_own_model(audited, tmp_path):
    folder, _ = audited
    shutil.copytree(folder / "run", tmp_path / "run", ignore=shutil.ignore_patterns("look", "audit"))
    assert call(tmp_path / "run", "--quick").exit_code == 0
    assert not (tmp_path / "run" / "look").exists()
    assert Audit.load(tmp_path / "run" / "audit").samples == 200


def test_other_data_is_judged_by_the_model_and_leaves_the_run_alone(audited, table_run, tmp_path):
    source = table_run.read_config().data.source
    printed = call(table_run.path, "--data", source, "--out", tmp_path / "other", "--no-duplicates", "--json")
    assert printed.exit_code == 0, printed.exception
    assert json.loads(printed.stdout)["samples"] == 200
    assert not (table_run.path / "audit").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--format", "xlsx"], "--format must be one of csv, parquet, json, got 'xlsx'"),
        (["--data", "digits"], "--out FOLDER is needed for other data"),
    ],
)
def test_refuses_what_it_cannot_do(table_run, arguments, said):
    error = call(table_run.path, *arguments).exception
    assert isinstance(error, InputError)
    assert said in str(error)


def test_refuses_a_file_for_the_folder(table_run, tmp_path):
    (tmp_path / "out").write_text("")
    error = call(table_run.path, "--out", tmp_path / "out").exception
    assert isinstance(error, InputError)
    assert "is a file" in str(error)


def test_refuses_a_folder_that_is_no_run(tmp_path):
    error = call(tmp_path).exception
    assert isinstance(error, InputError)
    assert "holds no run" in str(error)


@pytest.fixture
def checked(audited, tmp_path):
    """A copy of the audited run, for which a sample was drawn."""
    shutil.copytree(audited[0] / "run", tmp_path / "run")
    drawn = call(tmp_path / "run", "--check", 20)
    assert drawn.exit_code == 0, drawn.exception
    assert "20 of 20 labels drawn at random wait for a person" in drawn.output
    return tmp_path / "run"


def test_a_sample_is_drawn_as_a_file_and_as_a_page(checked):
    lines = (checked / "audit" / "check.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "index,id,given,label"
    assert len(lines) == 21
    assert all(line.endswith(",") for line in lines[1:])
    page = (checked / "audit" / "check.html").read_text(encoding="utf-8")
    assert "drawn at random" in page
    assert "ä <b>" not in page  # a class of that name is data and never markup
    assert Audit.load(checked / "audit").checked is None


def test_answers_in_the_file_correct_the_rate_and_are_never_drawn_over(checked):
    file = checked / "audit" / "check.csv"
    rows = [line.split(",") for line in file.read_text(encoding="utf-8").splitlines()]
    for number, row in enumerate(rows[1:]):
        row[3] = ("no" if row[2] != "no" else "yes") if number < 4 else row[2]
    file.write_text("\n".join(map(",".join, rows)) + "\n", encoding="utf-8")
    printed = call(checked, "--json")
    assert printed.exit_code == 0, printed.exception
    said = json.loads(printed.stdout)
    assert said["checked"] == {"checked": 20, "wrong": 4}
    assert said["to_check"] == 0
    assert said["noise_rate"] == pytest.approx(4.5 / 21)
    assert said["interval"][0] < 0.2 < said["interval"][1]
    assert "20 labels that a person checked at random, 4 of them wrong" in call(checked).output
    error = call(checked, "--check", 30).exception
    assert isinstance(error, InputError)
    assert "holds 20 answers" in str(error)


def test_decisions_of_the_page_are_answers(checked, tmp_path):
    index, name, given, _ = (checked / "audit" / "check.csv").read_text(encoding="utf-8").splitlines()[1].split(",")
    page = tmp_path / "corrections.csv"
    page.write_text(f"index,id,given,decision,label,time\n{index},{name},{given},keep,,\n", encoding="utf-8")
    printed = call(checked, "--answers", page, "--json")
    assert printed.exit_code == 0, printed.exception
    assert json.loads(printed.stdout)["checked"] == {"checked": 1, "wrong": 0}
    assert json.loads(printed.stdout)["to_check"] == 19
    empty = tmp_path / "none.csv"
    empty.write_text("index,id,given,decision,label,time\n", encoding="utf-8")
    assert json.loads(call(checked, "--answers", empty, "--json").stdout)["checked"]["checked"] == 1  # kept before


def test_answers_need_a_sample_and_a_sample_is_of_the_runs_own_labels(audited, tmp_path):
    folder, _ = audited
    (tmp_path / "answers.csv").write_text("index,id,given,decision,label,time\n", encoding="utf-8")
    error = call(folder / "run", "--answers", tmp_path / "answers.csv").exception
    assert isinstance(error, InputError)
    assert "draw a sample first" in str(error)
    error = call(folder / "run", "--data", "digits", "--out", tmp_path / "o", "--check", 5).exception
    assert isinstance(error, InputError)
    assert "leave --data out" in str(error)


@pytest.fixture
def noisy_table(tmp_path):
    """A table of 300 rows, 60 of them with another label than they should have."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    x = rng.normal(size=(300, 4)) + 4 * np.eye(4)[y]
    given = np.where(np.arange(300) % 5 == 0, (y + 1) % 3, y)
    np.savez(tmp_path / "noisy.npz", X=x.astype(np.float32), y=given)
    return tmp_path / "noisy.npz"


def test_a_run_that_looked_at_its_labels_is_audited_at_its_end(noisy_table, tmp_path):
    run = tmp_path / "run"
    made = CliRunner().invoke(app, ["fit", str(noisy_table), "--out", str(run), "--epochs", "6", "--json"])
    assert made.exit_code == 0, made.exception
    at_once = Audit.load(run / "audit")
    assert json.loads(made.stdout)["auto"]["interval"] == list(at_once.interval)
    assert "Labels to look at first" in (run / "report.html").read_text(encoding="utf-8")
    again = call(run, "--out", tmp_path / "out")
    assert again.exit_code == 0, again.exception
    for name in ("suspects.csv", "audit.json"):
        assert (tmp_path / "out" / name).read_bytes() == (run / "audit" / name).read_bytes()


def test_a_disk_that_is_full_at_the_audit_leaves_a_run_to_resume(noisy_table, tmp_path, monkeypatch):
    def full(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    run = tmp_path / "run"
    with monkeypatch.context() as patched:
        patched.setattr(Audit, "save", full)
        made = CliRunner().invoke(
            app, ["fit", str(noisy_table), "--out", str(run), "--epochs", "2", "--no-report", "--json"]
        )
    assert made.exception.code == 2
    assert "No space left on device; make room" in made.stderr
    assert f"what is done is kept, go on with: anchored resume {run}" in made.stderr
    assert not (run / "result.json").exists()
    assert CliRunner().invoke(app, ["resume", str(run), "--json"]).exit_code == 0
    assert Audit.load(run / "audit").samples == 300

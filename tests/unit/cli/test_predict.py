"""Mirror of src/anchored/cli/predict.py: the file against the model itself, refusals before any work."""

import csv
import json
import math
import shutil

import pytest
import torch
from typer.testing import CliRunner

from anchored import InputError
from anchored.cli import app
from anchored.data import load_table
from anchored.export import load


def call(*arguments):
    return CliRunner().invoke(app, ["predict", *map(str, arguments)])


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_rows_agree_with_the_model_and_the_json_counts_them(table_run, tmp_path):
    source = table_run.read_config().data.source
    printed = json.loads(
        call(table_run.path, source, "--out", tmp_path / "p.csv", "--min-confidence", 0.99, "--json").stdout
    )
    rows = rows_of(tmp_path / "p.csv")
    model, data = load(table_run.path), load_table(source, label="kind").train
    likely = model.predict_proba(data.inputs.take(torch.arange(len(data))))
    assert [row["id"] for row in rows] == list(data.ids)
    assert [row["label"] for row in rows] == [model.class_names[i] for i in likely.argmax(dim=1)]
    torch.testing.assert_close(
        torch.tensor([float(row["probability"]) for row in rows]), likely.amax(dim=1), atol=2e-6, rtol=0
    )
    assert [row["abstain"] for row in rows] == ["true" if p < 0.99 else "false" for p in likely.amax(dim=1)]
    assert (printed["n"], printed["broken"]) == (200, 0)
    assert printed["abstained"] == sum(row["abstain"] == "true" for row in rows)
    assert 0 < printed["abstained"] < 200
    assert printed["labels"] == {n: sum(row["label"] == n for row in rows) for n in ("no", "yes", "ä <b>")}


def test_the_ending_says_the_format(table_run, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    source = table_run.read_config().data.source
    for name in ("p.csv", "p.jsonl", "p.parquet"):
        assert call(table_run.path, source, "--out", tmp_path / name).exit_code == 0
    rows = rows_of(tmp_path / "p.csv")
    lines = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text(encoding="utf-8").splitlines()]
    table = pq.read_table(tmp_path / "p.parquet").to_pylist()
    assert len(rows) == 200
    for in_csv, in_lines, in_table in zip(rows, lines, table, strict=True):
        assert list(in_csv) == list(in_lines) == list(in_table)
        assert in_csv["label"] == in_lines["label"] == in_table["label"]
        assert float(in_csv["probability"]) == in_lines["probability"] == round(in_table["probability"], 6)


def test_a_broken_row_is_named_and_the_others_go_on(table_run, tmp_path):
    heading = "kind," + ",".join(f"f{i}" for i in range(8))
    broken = [f"new,{','.join(['1'] * 7)},oops"] * 12
    (tmp_path / "new.csv").write_text("\n".join([heading, "new," + ",".join(["1"] * 8), *broken]) + "\n")
    done = call(table_run.path, tmp_path / "new.csv", "--out", tmp_path / "p.csv", "--json")
    assert json.loads(done.stdout) | {"run": 0, "data": 0, "out": 0, "labels": 0} == {
        "run": 0, "data": 0, "out": 0, "labels": 0, "n": 13, "abstained": 0, "broken": 12,
    }  # fmt: skip
    rows = rows_of(tmp_path / "p.csv")
    assert [bool(row["label"]) for row in rows] == [True] + [False] * 12
    assert all("column 'f7': features must be numbers, got 'oops'" in row["error"] for row in rows[1:])
    assert all(row["abstain"] == "true" and row["probability"] == "" for row in rows[1:])
    told = done.stderr.splitlines()
    assert len(told) == 11  # ten of them, and how many more
    assert "2 more could not be read" in told[-1]


def test_labels_of_a_built_in_set_are_not_looked_at(tmp_path):
    import numpy as np

    from anchored.data import from_arrays
    from anchored.data.dataset import Split
    from anchored.runs import fit

    x = np.random.default_rng(0).integers(0, 255, size=(40, 8, 8), dtype=np.uint8)
    settings = {"backbone": {"name": "tiny"}, "train": {"epochs": 1, "device": "cpu"}}
    fit(Split(from_arrays(x, np.array(["even", "odd"] * 20))), settings, folder=tmp_path / "run")
    done = call(tmp_path / "run", "digits", "--out", tmp_path / "p.csv", "--json")
    assert done.exit_code == 0, done.exception
    assert json.loads(done.stdout)["n"] == 360
    assert {row["label"] for row in rows_of(tmp_path / "p.csv")} <= {"even", "odd"}


def test_a_prior_moves_the_odds_by_its_own(table_run, tmp_path):
    source = table_run.read_config().data.source
    for name, prior in (("equal.csv", "1,1,1"), ("moved.csv", "1,50,1")):
        assert call(table_run.path, source, "--out", tmp_path / name, "--prior", prior).exit_code == 0
    before, after = rows_of(tmp_path / "equal.csv"), rows_of(tmp_path / "moved.csv")
    both = [(float(a["margin"]), float(b["margin"])) for a, b in zip(before, after, strict=True) if a["label"] == "yes"]
    assert both
    assert all(moved == pytest.approx(margin + math.log(50), abs=1e-4) for margin, moved in both)


def test_a_model_alone_predicts_without_its_run(table_run, tmp_path):
    (tmp_path / "bare").mkdir()
    for name in ("model.json", "model.safetensors"):
        shutil.copy(table_run.path / name, tmp_path / "bare" / name)
    source = table_run.read_config().data.source
    for run, name in ((table_run.path, "one.csv"), (tmp_path / "bare", "two.csv")):
        assert call(run, source, "--out", tmp_path / name).exit_code == 0
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_refuses_what_it_cannot_do_and_leaves_the_old_file(table_run, tmp_path):
    out = tmp_path / "p.csv"
    out.write_text("f0\n1\n")
    source = table_run.read_config().data.source
    for arguments, message in (
        ((table_run.path, "digits", "--out", out), r"takes inputs of shape \(8,\), these are \(1, 8, 8\)"),
        ((table_run.path, out, "--out", out), "is the data itself"),
        ((table_run.path, "digits", "--out", tmp_path), "must be a file in a folder that exists"),
        ((table_run.path, "digits", "--out", tmp_path / "no" / "p.csv"), "must be a file in a folder that exists"),
        ((table_run.path, "digits", "--out", tmp_path / "p.txt"), r"written to .csv, .parquet or .jsonl"),
        ((table_run.path, "digits", "--out", out, "--min-confidence", 1.5), r"must lie in \[0, 1\], got 1.5"),
        ((table_run.path, source, "--out", out, "--part", "test"), "no test part; leave --part out"),
        ((table_run.path, source, "--out", out, "--part", "half"), "--part must be train or test"),
        ((table_run.path, tmp_path / "no.csv", "--out", out), "neither a file, a folder nor a built-in"),
        ((tmp_path, "digits", "--out", out), "holds no run"),
    ):
        error = call(*arguments).exception
        assert isinstance(error, InputError), (arguments, error)
        with pytest.raises(InputError, match=message):
            raise error
    assert [path.name for path in tmp_path.iterdir()] == ["p.csv"]
    assert out.read_text() == "f0\n1\n"


def test_a_file_that_turns_out_to_be_no_text_leaves_the_old_predictions(table_run, tmp_path):
    (tmp_path / "p.csv").write_text("old")
    heading, row = ",".join(f"f{i}" for i in range(8)), ",".join(["1"] * 8)
    text = "\n".join([heading, *[row] * 9000]).encode()
    (tmp_path / "new.csv").write_bytes(text + b"\n\xff\n")
    error = call(table_run.path, tmp_path / "new.csv", "--out", tmp_path / "p.csv").exception
    with pytest.raises(InputError, match="not UTF-8 text"):
        raise error
    assert (tmp_path / "p.csv").read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"p.csv", "new.csv"}


def test_a_long_prediction_tells_how_far_it_is(table_run, tmp_path, monkeypatch):
    monkeypatch.setattr("anchored.cli.predict._SECONDS_SILENT", -1.0)
    said = call(table_run.path, table_run.read_config().data.source, "--out", tmp_path / "p.csv")
    assert "anchored: 200 rows so far" in said.stderr

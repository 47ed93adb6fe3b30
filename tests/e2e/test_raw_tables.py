"""From a shell: a table as people have it, with ids, categories, gaps, dates and texts, from raw file to raw file."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from tests.customers import HEADING, customers, write_customers

from anchored.cli.progress import Lines


def predicted(path):
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def raw(tmp_path):
    """Customers to train on, and new ones without labels, which are returned with their true labels."""
    rows, _ = customers(600, wrong=0.1)
    new, clean = customers(300, seed=1)
    write_customers(tmp_path / "customers.csv", rows)
    write_customers(tmp_path / "new.csv", new, label=False)
    return new, clean


RIDGE = ("--label", "income", "--method", "ridge")


def test_a_raw_table_is_fitted_and_a_raw_file_predicted(anchored, raw, tmp_path):
    new, clean = raw
    missing = anchored("fit", "customers.csv", "--out", "run")
    assert missing.code == 2
    assert all(repr(name) in missing.err for name in HEADING)  # all columns, the label among them

    fitted = anchored(
        "fit", "customers.csv", *RIDGE, "--drop", "marital_status", "--as", "age=category", "--out", "run"
    )
    assert fitted.code == 0, fitted.err
    shown = {line.split()[0]: line.split()[1] for line in fitted.err.splitlines() if line.startswith(tuple(HEADING))}
    assert shown == {
        "customer_id": "id", "age": "category", "education": "category", "occupation": "category",
        "marital_status": "dropped", "hours_per_week": "number", "capital_gain": "number", "joined": "date",
        "comment": "text",
    }  # fmt: skip
    report = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "What is done with each column" in report

    fitted = anchored("fit", "customers.csv", *RIDGE, "--out", "full")
    assert fitted.code == 0, fitted.err
    done = anchored("predict", "full", "new.csv", "--out", "p.csv", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["broken"] == 0
    answers = predicted("p.csv")
    assert [row["id"] for row in answers] == [f"row {i + 2}" for i in range(300)]
    assert np.mean([row["label"] == label for row, label in zip(answers, clean, strict=True)]) > 0.75

    # Another order, another column more, other formats, other chunks: the same answers.
    order = [*HEADING[:-1][::-1], "extra"]
    with Path("other.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(order)
        table = [dict(zip(HEADING, row, strict=True)) | {"extra": "1"} for row in new]
        writer.writerows([row[name] for name in order] for row in table)
    Path("other.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table), encoding="utf-8")
    for name in ("other.csv", "other.jsonl"):
        assert anchored("predict", "full", name, "--out", "q.csv").code == 0
        again = predicted("q.csv")
        assert [row["label"] for row in again] == [row["label"] for row in answers]
        assert [row["probability"] for row in again] == [row["probability"] for row in answers]

    write_customers(tmp_path / "test.csv", [[*row[:-1], label] for row, label in zip(new, clean, strict=True)])
    scored = json.loads(anchored("evaluate", "full", "test.csv", "--json").out)
    right = np.mean([row["label"] == label for row, label in zip(answers, clean, strict=True)])
    assert scored["accuracy"] == pytest.approx(right)


def test_rows_that_cannot_be_read_are_named_and_the_others_go_on(anchored, raw, tmp_path):
    new, _ = raw
    assert anchored("fit", "customers.csv", *RIDGE, "--out", "run").code == 0
    new = [row[:-1] for row in new[:6]]
    age, joined, occupation = (HEADING.index(name) for name in ("age", "joined", "occupation"))
    new[1][age] = "old"
    new[2][joined] = ""  # no gap in training
    new[3][occupation] = "astronaut"  # never seen
    new[4] = new[4][:3]
    with Path("bad.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEADING[:-1], *new])
    done = anchored("predict", "run", "bad.csv", "--out", "p.csv", "--json")
    assert done.code == 0
    assert json.loads(done.out)["broken"] == 2
    errors = {row["id"]: row["error"] for row in predicted("p.csv") if row["error"]}
    number = "a cell must be a number, as in training, got 'old'; correct the cell, or leave it empty"
    width = "3 fields where the heading names 9; quote a field that contains ',', or correct the row"
    assert errors == {"row 3": f"bad.csv, row 3, column 'age': {number}", "row 6": f"bad.csv, row 6: {width}"}
    Path("few.csv").write_text("age,education\n31,school\n", encoding="utf-8")
    refused = anchored("predict", "run", "few.csv", "--out", "p2.csv")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "few.csv: column 'occupation' is missing (and 5 more), and the model needs it" in refused.err
    assert not Path("p2.csv").exists()


@pytest.mark.usefixtures("raw")
def test_a_run_on_a_table_that_is_stopped_and_resumed_equals_uninterrupted(anchored, monkeypatch):
    flags = ("--label", "income", "--epochs", 3, "--batch-size", 64, "--set", "train.checkpoint_seconds=0")
    assert anchored("fit", "customers.csv", *flags, "--method", "ce", "--out", "whole").code == 0
    steps = 0

    def stop(self, **_):
        nonlocal steps
        steps += 1
        if steps == 14:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Lines, "step", stop)
        assert anchored("fit", "customers.csv", *flags, "--method", "ce", "--out", "broken").code == 130
    assert anchored("resume", "broken").code == 0
    for name in (
        "model.safetensors",
        "model.json",
        "encoder.json",
        "encoder.safetensors",
        "result.json",
        "config.yaml",
    ):
        assert Path("whole", name).read_bytes() == Path("broken", name).read_bytes(), name


def test_a_large_offset_does_not_make_clean_labels_look_wrong(anchored):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(600, 6))
    labels = np.where(rows[:, 0] + rows[:, 1] > 0, "a", "b")
    for name, offset in (("near", 0.0), ("far", 1e8)):
        lines = ["u,v,w,x,y2,z,label"]
        lines += [
            ",".join([*map(repr, (row + offset).tolist()), label]) for row, label in zip(rows, labels, strict=True)
        ]
        Path(f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    scores = {}
    for name in ("near", "far"):
        done = anchored("fit", f"{name}.csv", "--method", "ridge", "--out", name, "--no-report", "--json")
        assert done.code == 0, done.err
        scores[name] = json.loads(done.out)["held_out"]["accuracy"]
    assert scores["far"] > 0.95
    assert abs(scores["far"] - scores["near"]) < 0.03

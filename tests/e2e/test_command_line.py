"""From a shell, start to finish: fit, predict on new data, evaluate, for every kind of data; and what is refused."""

import csv
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

RUN_FILES = {
    ".lock", "checkpoint", "config.yaml", "history.jsonl", "model.json", "model.safetensors", "report.html",
    "result.json", "speed.jsonl",
}  # fmt: skip


def rows_of(path):
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_folder_of_images(anchored, write_images, tmp_path):
    write_images(tmp_path / "photos", 60)
    write_images(tmp_path / "new", 12, seed=1)
    (tmp_path / "new" / "right" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n no image")
    flags = ("--epochs", 8, "--backbone", "tiny", "--set", "data.augment=[]", "--batch-size", 16)
    done = anchored("fit", "photos", "--out", "run", *flags)
    assert done.code == 0, done.err
    assert {path.name for path in (tmp_path / "run").iterdir()} == RUN_FILES
    assert "the run is in run" in done.out
    assert "epoch 8/8" in done.err

    done = anchored("predict", "run", "new", "--out", "p.csv", "--json")
    assert done.code == 0, done.err
    printed, rows = json.loads(done.out), rows_of("p.csv")
    assert (printed["n"], printed["broken"], len(rows)) == (13, 1, 13)
    broken = [row for row in rows if row["error"]]
    assert [row["id"] for row in broken] == ["right/broken.png"]
    assert "broken.png" in done.err
    good = [row for row in rows if not row["error"]]
    assert all(row["label"] == row["id"].split("/")[0] for row in good)
    assert all(1 / 3 <= float(row["probability"]) <= 1 for row in good)

    assert anchored("evaluate", "run", "new", "--json").code == 2  # where labels count, a broken file is refused
    (tmp_path / "new" / "right" / "broken.png").unlink()
    scored = json.loads(anchored("evaluate", "run", "new", "--json").out)
    assert scored["accuracy"] == 1.0
    assert scored["class_names"] == ["left <b>", "right", "unten ü"]


def test_a_table(anchored, write_table, tmp_path):
    write_table(tmp_path / "train.csv", 200)
    write_table(tmp_path / "new.csv", 50, seed=1)
    flags = ("--label", "kind", "--test", "new.csv", "--epochs", 8)
    result = json.loads(anchored("fit", "train.csv", "--out", "run", *flags, "--json").out)
    assert result["test"]["accuracy"] > 0.9

    assert anchored("predict", "run", "new.csv", "--out", "p.csv", "--min-confidence", 1.0).code == 0
    rows = rows_of("p.csv")
    assert [row["id"] for row in rows] == [f"row {i}" for i in range(2, 52)]
    assert {row["abstain"] for row in rows} <= {"true", "false"}
    right = np.mean([row["label"] == f"class {i % 3}" for i, row in enumerate(rows)])

    scored = json.loads(anchored("evaluate", "run", "new.csv", "--json").out)
    assert scored["accuracy"] == pytest.approx(right)
    assert scored["accuracy"] == pytest.approx(result["test"]["accuracy"])
    assert scored["ece"] == pytest.approx(result["test"]["ece"])
    assert scored["nll"] == pytest.approx(result["test"]["nll"])


def test_arrays_corrupted_and_trained_on(anchored, blobs, tmp_path):
    x, y = blobs(300, 6, 4, 0)
    x_test, y_test = blobs(80, 6, 4, 1)
    np.savez(tmp_path / "a.npz", X=x, y=y, X_test=x_test, y_test=y_test)
    assert anchored("corrupt", "a.npz", "--symmetric", 0.3, "--out", "noisy").code == 0
    fitted = anchored("fit", "noisy/data.npz", "--epochs", 10, "--noise-rate", 0.3, "--out", "run", "--json")
    assert fitted.code == 0, fitted.err
    assert json.loads(fitted.out)["test"]["accuracy"] > 0.9
    scored = json.loads(anchored("evaluate", "run", "a.npz", "--part", "train", "--json").out)
    assert scored["n"] == 300
    assert scored["accuracy"] > 0.9


def test_a_file_of_settings_gives_the_same_run_as_flags(anchored, write_table, tmp_path):
    write_table(tmp_path / "t.csv", 60)
    flags = ("t.csv", "--label", "kind", "--epochs", 2, "--method", "gce", "--set", "method.loss.q=0.5")
    first = json.loads(anchored("fit", *flags, "--out", "one", "--json").out)
    second = json.loads(anchored("fit", "--config", "one/config.yaml", "--out", "two", "--json").out)
    for volatile in ("run", "report", "samples_per_second"):
        first.pop(volatile)
        second.pop(volatile)
    assert first == second
    assert Path("one/config.yaml").read_bytes() == Path("two/config.yaml").read_bytes()
    assert Path("one/history.jsonl").read_bytes() == Path("two/history.jsonl").read_bytes()


@pytest.fixture
def bad_inputs(anchored, write_table, tmp_path):
    write_table(tmp_path / "t.csv", 60)
    (tmp_path / "one.csv").write_text("f0,kind\n1,a\n2,a\n")
    (tmp_path / "quote.csv").write_text('f0,kind\n1,a\n"2,b\n3,a\n')
    (tmp_path / "empty").mkdir()
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    (tmp_path / "c.yaml").write_text("trian: {epochs: 1}\n")
    assert anchored("fit", "t.csv", "--label", "kind", "--epochs", 1, "--out", "run").code == 0
    unseen = (tmp_path / "t.csv").read_text().replace("class 2", "class 9")
    (tmp_path / "unseen.csv").write_text(unseen)


BAD = [
    ("fit t.csv --label kind --method cee --out r", "unknown word 'cee' in method 'cee'"),
    ("fit t.csv --label kind --set train.epoch=3 --out r", "unknown setting 'train.epoch'"),
    ("fit t.csv --label kind --config c.yaml --out r", "unknown setting 'trian' in c.yaml"),
    ("fit t.csv --label kind --epochs 0 --out r", "train.epochs"),
    ("fit t.csv --label kind --epochs many --out r", "--epochs"),
    ("fit t.csv --label kind --backbone resnet33 --out r", "unknown backbone 'resnet33'"),
    ("fit t.csv --label kind --set data.normalize=cifra --out r", "unknown normalisation 'cifra'"),
    ("fit t.csv --label kind --set schedule.name=cosin --out r", "unknown schedule 'cosin'"),
    ("fit t.csv --label kind --corrupt longtail=1e6 --out r", "leaves a class without a sample"),
    ("fit t.csv --label kind --colour red --out r", "No such option"),
    ("fit nothing.csv --out r", "nothing.csv: neither a file, a folder nor a built-in data set"),
    ("fit mnis --out r", "did you mean 'mnist'?"),
    ("fit mnist --data-root empty --out r", "no train-images-idx3-ubyte"),
    ("fit empty --out r", "holds no images"),
    ("fit t.csv --out r", "which column is the label?"),
    ("fit t.csv --label kinds --out r", "no label column 'kinds'; did you mean 'kind'?"),
    ("fit one.csv --label kind --out r", "training needs at least two classes"),
    ("fit quote.csv --label kind --out r", "quote.csv, row 3: a quote is opened and never closed"),
    ("fit t.csv --label kind --drop f9 --out r", "there is no column 'f9' to drop"),
    ("fit t.csv --label kind --as f0=colour --out r", "unknown kind of column 'colour'"),
    ("fit t.csv --label kind --as f0 --out r", "--as must be COLUMN=KIND"),
    ("fit digits --drop f0 --out r", "about the columns of a table"),
    (
        "fit t.csv --label kind --noise-rate nan --out r",
        "setting 'method.noise_rate' in the configuration: input should",
    ),
    (
        "fit t.csv --label kind --noise-rate 1.5 --out r",
        "setting 'method.noise_rate' in the configuration: input should",
    ),
    ("fit t.csv --label kind --set method.scale=.inf --out r", "setting 'method.scale' in the configuration: input"),
    ("fit t.csv --label kind --set data.hold_out=1.5 --out r", "setting 'data.hold_out' in the configuration: input"),
    ("fit t.csv --label kind --set lr --out r", "for instance optimizer.lr=0.1"),
    ("fit digits --label kind --out r", "--label names a column of a table, and digits is none"),
    ("fit t.csv --label kind --out taken", "taken is not empty"),
    ("fit t.csv --label kind --out run", "run holds a finished run"),
    ("fit t.csv --label kind --out t.csv", "t.csv is a file"),
    ("evaluate run unseen.csv", "label 'class 9' was not seen in training"),
    ("evaluate run digits", "class '0' was not seen in training"),
    ("predict run one.csv --out p.csv", "column 'f1' is missing (and 6 more), and the model needs it"),
    ("predict empty t.csv --out p.csv", "empty holds no run"),
    ("resume empty", "empty holds no run"),
    ("corrupt t.csv --label kind --symmetric 2 --out r", "the noise rate must lie in [0, 1)"),
]


@pytest.mark.usefixtures("bad_inputs")
def test_bad_input_ends_with_one_line_and_code_2_and_leaves_nothing_behind(anchored, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    for command, message in BAD:
        done = anchored(*command.split())
        assert done.code == 2, command
        assert done.out == "", command
        assert done.err.startswith("anchored: "), command
        assert done.err.count("\n") == 1, command
        assert message in done.err, (command, done.err)
        assert sorted(tmp_path.rglob("*")) == before, command


@pytest.mark.parametrize("command", ["predict run t.csv --out p.csv", "prototypes 100 64 --out p.npy"])
def test_a_full_disk_is_one_line_and_the_old_file_stays(anchored, write_table, tmp_path, command):
    """A limit on the size of files stands in for the disk: the kernel refuses the write in the same way."""
    write_table(tmp_path / "t.csv", 200)
    assert anchored("fit", "t.csv", "--label", "kind", "--epochs", 1, "--out", "run").code == 0
    out = Path(command.split()[-1])
    out.write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, before[1]))
    try:
        done = anchored(*command.split())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert done.code == 2
    assert done.err.startswith("anchored: File too large")
    assert done.err.count("\n") == 1
    assert out.read_text() == "old"
    assert not list(tmp_path.glob(".p.*"))


def test_the_module_is_the_command_and_keeps_stdout_for_the_result(write_table, tmp_path):
    write_table(tmp_path / "t.csv", 60)
    command = [sys.executable, "-m", "anchored", "fit", "t.csv", "--label", "kind", "--epochs", "2", "--json"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert Path(result["run"], "result.json").is_file()
    assert done.stderr.count("epoch ") == 2

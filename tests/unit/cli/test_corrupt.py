"""Mirror of src/anchored/cli/corrupt.py: what is written can be read back and says what was done to it."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from anchored import InputError
from anchored.cli import app
from anchored.data import load_digits, open_source


def call(*arguments):
    return CliRunner().invoke(app, ["corrupt", *map(str, arguments)])


def read(path):
    with np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)


def test_writes_a_source_and_a_receipt(tmp_path):
    out = tmp_path / "noisy"
    printed = json.loads(call("digits", "--symmetric", 0.4, "--longtail", 10, "--out", out, "--json").stdout)
    assert sorted(path.name for path in out.iterdir()) == ["data.npz", "receipt.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["noisy"]
    receipt = json.loads((out / "receipt.json").read_text())
    assert receipt["asked"] == ["longtail=10.0", "symmetric=0.4"]

    original = load_digits()
    split = open_source(out / "data.npz")
    arrays = read(out / "data.npz")
    assert split.train.class_names == original.train.class_names
    assert len(split.train) == printed["n"] == sum(receipt["imbalance"]["counts"])
    assert (arrays["y"] != arrays["y_clean"]).sum() == receipt["noise"]["flipped"]
    kept = original.train.subset(np.asarray(arrays["index"]))
    assert np.array_equal(arrays["X"], kept.inputs.tensor.numpy())
    assert arrays["y_clean"].tolist() == [original.train.class_names[i] for i in kept.labels.tolist()]
    assert split.test.labels.tolist() == original.test.labels.tolist()


def test_a_table_keeps_its_names(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("b,a,kind\n" + "".join(f"{i % 7},{-i % 5},{'ü' if i % 2 else '<i>'}\n" for i in range(40)))
    printed = call(table, "--asymmetric", 0.2, "--label", "kind", "--out", tmp_path / "out")
    assert printed.exit_code == 0
    assert "wrong labels" in printed.output
    arrays = read(tmp_path / "out" / "data.npz")
    assert arrays["columns"].tolist() == ["b", "a"]
    assert set(arrays["y"].tolist()) == {"ü", "<i>"}


def test_a_table_with_words_stays_a_table(tmp_path):
    table = tmp_path / "t.csv"
    rows = [f"{i % 7},{'Rome' if i % 3 else ''},{'yes' if i % 2 else 'no'}" for i in range(40)]
    table.write_text("n,town,kind\n" + "\n".join(rows) + "\n")
    printed = call(table, "--symmetric", 0.2, "--label", "kind", "--out", tmp_path / "out")
    assert printed.exit_code == 0
    assert "data.csv" in printed.output
    written = (tmp_path / "out" / "data.csv").read_text().splitlines()
    clean = (tmp_path / "out" / "labels_clean.csv").read_text().splitlines()
    assert written[0] == "n,town,kind"
    assert [line.rsplit(",", 1)[0] for line in written[1:]] == [row.rsplit(",", 1)[0] for row in rows]
    given, right = ([line.rsplit(",", 1)[1] for line in lines[1:]] for lines in (written, clean))
    assert right == [row.rsplit(",", 1)[1] for row in rows]
    assert sum(one != other for one, other in zip(given, right, strict=True)) == 8


def test_the_same_seed_gives_the_same_labels(tmp_path):
    labels = []
    for i, seed in enumerate((1, 1, 2)):
        call("digits", "--symmetric", 0.4, "--seed", seed, "--out", tmp_path / str(i))
        labels.append(read(tmp_path / str(i) / "data.npz")["y"].tolist())
    assert labels[0] == labels[1] != labels[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to do"),
        (("--symmetric", 1.5), "the noise rate must lie in"),
        (("--symmetric", 0.1, "--asymmetric", 0.1), "exclude each other"),
        (("--longtail", 1e9), "leaves a class without a sample"),
        (("--symmetric", 0.1, "--seed", -1), "--seed must be at least 0"),
        (("--symmetric", 0.1, "--out", "no/such/folder"), "must lie in an existing folder"),
        (("--symmetric", 0.1, "--out", "full"), "must be a new or empty folder"),
    ],
)
def test_refuses_what_it_cannot_do_and_writes_nothing(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    error = call("digits", "--out", "out", *arguments).exception
    assert isinstance(error, InputError)
    with pytest.raises(InputError, match=message):
        raise error
    assert [path.name for path in tmp_path.iterdir()] == ["full"]

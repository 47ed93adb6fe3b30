"""Mirror of src/anchored/cli/predict.py: the rows against the model itself, refusals before any work."""

import csv
import json

import pytest
import torch
from typer.testing import CliRunner

from anchored import InputError
from anchored.cli import app, predict
from anchored.cli.model import load_run
from anchored.data import Dataset, TensorInputs


def call(*arguments):
    return CliRunner().invoke(app, ["predict", *map(str, arguments)])


def test_rows_agree_with_the_model_whatever_the_batch(table_run, monkeypatch):
    model = load_run(table_run.path, device="cpu").model
    x = torch.randn(11, 8, generator=torch.Generator().manual_seed(0)) * 3
    data = Dataset("toy", TensorInputs(x), torch.full((11,), -1), ())
    monkeypatch.setattr("anchored.cli.predict._BATCH", 4)
    got = list(predict.rows(model, data, 0.9))
    for i, row in enumerate(got):
        likely = sorted(model.predict_proba(x[i : i + 1])[0].tolist(), reverse=True)
        best = int(model.predict_proba(x[i : i + 1]).argmax())
        assert row["id"] == f"row {i}"
        assert row["label"] == model.class_names[best]
        assert float(row["probability"]) == pytest.approx(likely[0], abs=1e-5)
        assert float(row["margin"]) == pytest.approx(
            torch.tensor(likely[0]).log().item() - torch.tensor(likely[1]).log().item(), abs=1e-3
        )
        assert row["abstain"] == ("true" if likely[0] < 0.9 else "false")
        assert row["error"] == ""
    assert {row["abstain"] for row in got} == {"true", "false"}


class Torn:
    """Inputs of which some cannot be read, as files are."""

    shape = (8,)
    paths = ("a", "b", "c")

    def __init__(self, bad):
        self.bad = bad

    def __len__(self):
        return 3

    def take(self, index):
        if set(index.tolist()) & self.bad:
            raise InputError("b: damaged")
        return torch.zeros(len(index), 8)


@pytest.mark.parametrize("bad", [{1}, {0, 1, 2}])
def test_a_broken_file_is_named_in_its_row_and_the_others_go_on(table_run, bad):
    model = load_run(table_run.path, device="cpu").model
    data = Dataset("toy", Torn(bad), torch.full((3,), -1), (), ids=["a", "b", "c"])
    got = list(predict.rows(model, data, 0.0))
    assert [row["id"] for row in got] == ["a", "b", "c"]
    for i, row in enumerate(got):
        assert row["error"] == ("b: damaged" if i in bad else "")
        assert bool(row["label"]) == (i not in bad)
        assert row["abstain"] == ("true" if i in bad else "false")


def test_the_json_object_counts_what_the_file_holds(table_run, tmp_path):
    out = tmp_path / "p.csv"
    source = table_run.read_config().data.source
    printed = json.loads(call(table_run.path, source, "--out", out, "--min-confidence", 0.99, "--json").stdout)
    with out.open(encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    assert printed["n"] == len(written) == 200
    assert printed["abstained"] == sum(row["abstain"] == "true" for row in written)
    assert printed["labels"] == {n: sum(row["label"] == n for row in written) for n in ("no", "yes", "ä <b>")}


def test_refuses_what_it_cannot_do_and_leaves_the_old_file(table_run, tmp_path):
    out = tmp_path / "p.csv"
    out.write_text("f0\n1\n")
    for arguments, message in (
        ((table_run.path, "digits", "--out", out), "class '0' was not seen in training"),
        ((table_run.path, out, "--out", out), "is the data itself"),
        ((table_run.path, "digits", "--out", tmp_path), "must be a file in a folder that exists"),
        ((table_run.path, "digits", "--out", tmp_path / "no" / "p.csv"), "must be a file in a folder that exists"),
        ((table_run.path, "digits", "--out", out, "--min-confidence", 1.5), r"must lie in \[0, 1\], got 1.5"),
        ((tmp_path, "digits", "--out", out), "holds no run"),
    ):
        error = call(*arguments).exception
        assert isinstance(error, InputError)
        with pytest.raises(InputError, match=message):
            raise error
    assert [path.name for path in tmp_path.iterdir()] == ["p.csv"]
    assert out.read_text() == "f0\n1\n"

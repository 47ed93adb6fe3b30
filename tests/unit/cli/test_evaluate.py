"""Mirror of src/anchored/cli/evaluate.py: the numbers against the model's own predictions."""

import json
import math

import pytest
from typer.testing import CliRunner

from anchored.cli import app
from anchored.cli.model import load_run


def call(*arguments):
    return CliRunner().invoke(app, ["evaluate", *map(str, arguments)])


def test_the_numbers_agree_with_the_probabilities(table_run):
    import torch

    source = table_run.read_config().data.source
    printed = json.loads(call(table_run.path, source, "--json").stdout)
    loaded = load_run(table_run.path, device="cpu")
    data = loaded.open(source, labels="required")
    likely = loaded.model.predict_proba(data.inputs.take(torch.arange(len(data)))).tolist()
    labels = data.labels.tolist()
    right = [max(range(3), key=row.__getitem__) == y for row, y in zip(likely, labels, strict=True)]
    assert printed["n"] == 200
    assert printed["accuracy"] == pytest.approx(sum(right) / 200)
    assert printed["nll"] == pytest.approx(
        -sum(math.log(row[y]) for row, y in zip(likely, labels, strict=True)) / 200, abs=1e-4
    )
    for j, accuracy in enumerate(printed["per_class"]):
        own = [r for r, y in zip(right, labels, strict=True) if y == j]
        assert accuracy == pytest.approx(sum(own) / len(own))
    assert printed["many"] is None  # no class has more than a hundred training rows
    assert printed["class_names"] == ["no", "yes", "ä <b>"]


def test_the_tables_name_every_class(table_run):
    printed = call(table_run.path, table_run.read_config().data.source).output
    assert "accuracy (%)" in printed
    for name in ("no", "yes", "ä <b>"):
        assert f"│ {name} " in printed


def test_of_many_classes_the_worst_are_shown(capsys):
    from anchored.cli.evaluate import _print

    names = [f"class {i:03}" for i in range(100)]
    accuracies = [None, *(i / 100 for i in range(1, 100))]
    _print({"run": "r", "data": "d", "n": 5, "class_names": names, "per_class": accuracies}, None)
    printed = capsys.readouterr().out
    assert "the 30 worst classes" in printed
    assert "class 001" in printed
    assert "class 000" not in printed
    assert "class 031" not in printed

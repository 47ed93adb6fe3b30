"""Mirror of src/anchored/cli/prior.py: numbers and files say the same, and a wrong one is named in one line."""

import json

import pytest
import torch
from typer.testing import CliRunner

from anchored._errors import InputError
from anchored.cli import app
from anchored.cli.model import load_run
from anchored.cli.prior import read_prior, with_prior

NAMES = ("no", "yes", "ä <b>")


@pytest.mark.parametrize("text", ["0.5,0.3,0.2", " 0.5, 0.3 ,0.2"])
def test_numbers_stand_in_the_order_of_the_classes(text):
    assert read_prior(text, NAMES) == [0.5, 0.3, 0.2]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("prior.json", '{"yes": 0.3, "ä <b>": 0.2, "no": 0.5}'),
        ("prior.json", "[0.5, 0.3, 0.2]"),
        ("prior.csv", "class,share\nyes,0.3\nno,0.5\nä <b>,0.2\n"),
        ("prior.csv", "ä <b>,0.2\nno,0.5\nyes,0.3"),
        ("prior.txt", "\ufeffno,0.5\r\n\r\nyes,0.3\r\nä <b>,0.2\r\n"),
    ],
)
def test_a_file_goes_by_the_names(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    assert read_prior(str(path), NAMES) == [0.5, 0.3, 0.2]


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.json", '{"no": 1, "yes": 2}', "says nothing of class 'ä <b>'"),
        ("a.json", '{"no": 1, "yess": 2, "ä <b>": 1}', "has no class 'yess'; did you mean 'yes'"),
        ("a.json", '{"no": true, "yes": 2, "ä <b>": 1}', "class 'no' needs a number, got True"),
        ("a.json", "[1, 2]", "a number for each of the 3 classes"),
        ("a.json", "{", "cannot be read"),
        ("a.csv", "no,1,2\n", "a row must be a class and a number"),
        ("a.csv", "no,1\nno,2\nyes,1\n", "class 'no' comes twice"),
        ("a.csv", "no,1\nyes,many\nä <b>,1\n", "class 'yes' needs a number, got 'many'"),
        ("a.csv", "", "says nothing of class 'no'"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name(tmp_path, name, content, why):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=why) as refused:
        read_prior(str(path), NAMES)
    assert str(path) in str(refused.value)


def test_too_few_numbers_and_a_file_that_is_not_there_are_refused():
    with pytest.raises(InputError, match="for each of the 3 classes, got 2"):
        read_prior("1,2", NAMES)
    with pytest.raises(InputError, match="must be numbers a,b,c or a file"):
        read_prior("nowhere.csv", NAMES)


def test_evaluate_moves_its_numbers_to_the_prior(table_run):
    source = table_run.read_config().data.source
    said = CliRunner().invoke(app, ["evaluate", str(table_run.path), source, "--prior", "8,1,1", "--json"])
    printed = json.loads(said.stdout)
    loaded = load_run(table_run.path, device="cpu")
    data = loaded.open(source, labels="required")
    likely = loaded.model.for_prior([8, 1, 1]).predict_proba(data.inputs.take(torch.arange(len(data)))).double()
    own = likely[torch.arange(len(data)), data.labels]
    assert printed["prior"] == pytest.approx([0.8, 0.1, 0.1])
    assert printed["nll"] == pytest.approx(float(-own.log().mean()), abs=1e-4)
    assert printed["accuracy"] == pytest.approx(float((likely.argmax(dim=1) == data.labels).double().mean()))


def test_a_method_that_learns_the_frequencies_is_mentioned(table_run, capsys):
    model = load_run(table_run.path, device="cpu").model
    assert with_prior(model, None) is model
    with_prior(model, "1,2,1")
    assert "'ce+fnpal' learns the class frequencies" in capsys.readouterr().err
    model.description["method"] = "balanced-softmax"
    with_prior(model, "1,2,1")
    assert capsys.readouterr().err == ""

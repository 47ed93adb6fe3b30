"""Mirror of src/anchored/cli/settings.py: what wins over what, absolute paths, refusals with the file named."""

from pathlib import Path

import pytest

from anchored import InputError
from anchored.cli.settings import gather, number_or_auto
from anchored.runs import open_data
from anchored.training import validate


def flags(**train):
    return {"data": {"source": "digits", "root": None}, "train": train}


def test_set_wins_over_flags_and_flags_over_the_file(tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text("train: {epochs: 1, batch_size: 1, seed: 1}\nmethod: {name: ce}\n")
    settings = gather(file, flags(epochs=2, batch_size=2, seed=None), ["train.epochs=3"])
    said = settings.model_dump(exclude_unset=True)
    assert said["train"] == {"epochs": 3, "batch_size": 2, "seed": 1}
    assert said["method"] == {"name": "ce"}


def test_what_was_not_asked_for_is_left_to_the_recipe():
    said = gather(None, flags(epochs=None), []).model_dump(exclude_unset=True)
    assert said == {"data": {"source": "digits"}, "train": {}}


def test_an_empty_file_asks_for_nothing(tmp_path):
    (tmp_path / "c.yaml").touch()
    assert gather(tmp_path / "c.yaml", flags(), []).data.model_fields_set == {"source"}


def test_paths_are_made_absolute_and_names_are_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").touch()
    Path("x.npy").touch()
    Path("y.npy").touch()
    table = gather(None, {"data": {"source": "t.csv", "root": ".", "test": "t.csv", "label": "y.npy"}}, []).data
    assert table.model_dump(exclude_unset=True) == {
        "source": f"{tmp_path}/t.csv",
        "root": f"{tmp_path}",
        "test": f"{tmp_path}/t.csv",
        "label": "y.npy",
    }
    array = gather(None, {"data": {"source": "x.npy", "label": "y.npy"}}, []).data
    assert array.label == f"{tmp_path}/y.npy"
    (tmp_path / "mnist").mkdir()
    assert gather(None, {"data": {"source": "mnist"}}, []).data.source == "mnist"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("train: {epoch: 3}", r"unknown setting 'train.epoch' in .*c.yaml; did you mean 'epochs'"),
        ("- a\n- b", "must hold a mapping of settings, got a list"),
        ("a: [", r"c\.yaml, line 1: expected the node content"),
        ("\udcff", "is not a text in UTF-8"),
    ],
)
def test_a_bad_file_is_refused_by_name(tmp_path, text, message):
    file = tmp_path / "c.yaml"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=message):
        gather(file, flags(), [])


def test_a_missing_file_and_missing_data_are_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        gather(tmp_path / "c.yaml", flags(), [])
    with pytest.raises(InputError, match="which data"):
        gather(None, {"data": {"source": None}}, [])


def test_a_noise_rate_is_a_number_or_auto():
    assert number_or_auto(None, flag="--noise-rate") is None
    with pytest.raises(InputError, match=r"--noise-rate must be a number or auto, got 'much'"):
        number_or_auto("much", flag="--noise-rate")


def test_the_configuration_opens_its_data(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a,kind,label\n1,x,0\n2,y,1\n3,x,0\n")
    split = open_data(validate({"data": {"source": str(table), "label": "kind", "test": str(table)}}))
    assert split.train.class_names == ("x", "y")
    assert len(split.test) == 3


def test_other_corrections_are_not_read_in_the_state_of_the_file(tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text("data: {corrections: old.csv, corrections_digest: 'sha256:ab:1'}\n")
    given = {"data": {"source": "digits", "corrections": "new.csv"}}
    assert gather(file, given, []).data.corrections_digest is None
    assert gather(file, flags(), []).data.corrections_digest == "sha256:ab:1"

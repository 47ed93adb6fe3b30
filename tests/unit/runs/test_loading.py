"""Mirror of src/anchored/runs/loading.py: two files suffice, anywhere; and what does not fit ends in one line."""

import json
import os
import resource
import shutil
import subprocess
import sys

import pytest
import torch

from anchored._errors import InputError
from anchored.data import from_arrays
from anchored.data.dataset import Split
from anchored.export import load
from anchored.runs import fit


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run on vectors of six features."""
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(240) % 3
    x = torch.randn(240, 6, generator=generator) + 3 * torch.eye(6)[y]
    folder = tmp_path_factory.mktemp("load") / "run"
    settings = {"method": {"name": "ce+fnpal"}, "train": {"epochs": 2, "device": "cpu"}}
    fit(Split(from_arrays(x, y)), settings, folder=folder)
    return folder


@pytest.fixture
def bare(run, tmp_path):
    """The two files of the model and nothing else."""
    for name in ("model.json", "model.safetensors"):
        shutil.copy(run / name, tmp_path / name)
    return tmp_path


def edit(folder, **changes):
    about = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(json.dumps(about | changes))


def test_the_model_is_ready_for_use(run):
    model = load(run)
    assert model.class_names == ("0", "1", "2")
    assert not model.training
    x = 3 * torch.eye(6)[:3]
    assert model(x).argmax(dim=1).tolist() == [0, 1, 2]
    torch.testing.assert_close(model.predict_proba(x), model(x).softmax(dim=1).detach())
    assert load(str(run), device=torch.device("cpu")).class_names == model.class_names


def test_two_files_are_enough_in_a_fresh_process(run, bare):
    code = (
        "import anchored.export, torch, sys\n"
        "m = anchored.export.load(sys.argv[1])\n"
        "print(m.class_names, m(torch.ones(1, 6)).tolist())"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(bare)],
        capture_output=True,
        text=True,
        check=False,
        cwd=bare,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    names, _, logits = done.stdout.partition(") ")
    assert names == "('0', '1', '2'"
    torch.testing.assert_close(torch.tensor(json.loads(logits)), load(run)(torch.ones(1, 6)).detach())


def test_says_what_is_missing(bare, tmp_path):
    (bare / "model.safetensors").unlink()
    with pytest.raises(InputError, match=r"holds no trained model \(model.safetensors is missing\)"):
        load(bare)
    (bare / "model.json").unlink()
    with pytest.raises(InputError, match="holds no run and no model"):
        load(bare)
    with pytest.raises(InputError, match="is not there; give the folder of a finished run"):
        load(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="is a file; give the folder"):
        load(tmp_path / "file")


def test_an_interrupted_run_is_to_be_resumed(tmp_path):
    (tmp_path / "config.yaml").touch()
    with pytest.raises(InputError, match=r"holds no trained model .* anchored resume"):
        load(tmp_path)


@pytest.mark.parametrize(
    "changes",
    [
        {"backbone": {"name": "mlp", "last_relu": True, "options": {"hidden": [10**7, 10**7]}}},
        {"backbone": {"name": "mlp", "last_relu": True, "options": {"hidden": [30_000, 30_000]}}},
        {"backbone": {"name": "mlp", "last_relu": True, "options": {"hidden": [2] * 300_000}}},
        {"backbone": {"name": "mlp", "last_relu": True, "options": {"hidden": "wide"}}},
        {"backbone": {"name": "mlp", "last_relu": True, "options": {"hiden": [3]}}},
        {"backbone": {"last_relu": True}},
        {"backbone": {"name": "../mlp", "last_relu": True, "options": {}}},
        {"backbone": {"name": "timm:../../x", "last_relu": True, "options": {}}},
        {"backbone": None},
        {"input_shape": [2**26], "normalization": {"mean": [0], "std": [1], "divisor": 1}},
        {"class_names": [str(i) for i in range(100_000)]},
        {"class_names": ["a", "b"]},
        {"class_names": [str(i) for i in range(100_000)], "training_counts": [1] * 100_000},
        {"class_names": ["a", "b"], "training_counts": [1, 1]},
        {"method": 3},
        {"method": "rm -rf /"},
        {"format": 99},
        {"format": []},
        {"temperature": -1},
    ],
    ids=lambda changes: json.dumps(changes)[:60],
)
def test_an_odd_description_ends_in_one_line_and_takes_no_memory(bare, changes):
    edit(bare, **changes)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(InputError) as caught:
        load(bare)
    assert "\n" not in str(caught.value)
    assert str(bare) in str(caught.value)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # kilobytes


def test_class_names_that_look_like_paths_are_names(bare):
    names = ["../../etc/passwd", "T-shirt/top", "<script>"]
    edit(bare, class_names=names)
    assert load(bare).class_names == tuple(names)


def test_damaged_weights_end_in_one_line(bare):
    (bare / "model.safetensors").write_bytes(b"\xff" * 100)
    with pytest.raises(InputError, match=r"model\.safetensors cannot be read") as caught:
        load(bare)
    assert "\n" not in str(caught.value)


def test_published_weights_are_not_fetched_again(bare, monkeypatch):
    asked = {}

    def make(name, shape, **options):
        asked.update(name=name, **options)
        raise InputError("far enough")

    monkeypatch.setattr("anchored.runs.loading.backbones.get", make)
    edit(bare, backbone={"name": "timm:resnet18", "last_relu": True, "options": {"pretrained": True}})
    with pytest.raises(InputError, match="far enough"):
        load(bare)
    assert asked == {"name": "timm:resnet18", "last_relu": True, "pretrained": False}

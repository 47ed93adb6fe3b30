"""Fine-tuning as a run: the frozen answer is there first; killed and resumed, or repeated, it gives the same bytes."""

import json

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from anchored.data import Dataset, Split, TensorInputs
from anchored.features._lite0_network import Lite0Network
from anchored.report import gather
from anchored.runs import RunFolder, fit, load
from anchored.training import Progress

pytestmark = pytest.mark.slow
NAMES = ("red", "green", "blue")
FILES = ("model.safetensors", "model.json", "encoder.safetensors", "encoder.json", "config.yaml", "history.jsonl")


class Killed(Exception):
    """Stands for a signal."""


def killed_when_the_frozen_answer_is_there(fitted):
    raise Killed


class KilledInTheSecondEpoch(Progress):
    def step(self, *, batch, samples, loss):
        self.batch = batch

    def epoch(self, record, *, seconds, samples):
        raise Killed


def photos(n, seed):
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(n) % 3
    pixels = torch.randint(0, 90, (n, 3, 32, 32), generator=generator, dtype=torch.uint8)
    for label in range(3):
        pixels[labels == label, label, 8:24, 8:24] += 40
    return Dataset("toy", TensorInputs(pixels), labels, NAMES)


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    """A network with random weights, whose statistics are those of the photos."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = Lite0Network().train()
    for part in network.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.momentum = None
    with torch.no_grad():
        network((photos(64, 5).inputs.tensor.float() - 127) / 128)
    path = tmp_path_factory.mktemp("weights") / "lite0.safetensors"
    save_file({name: value.contiguous() for name, value in network.state_dict().items()}, path)
    options = {"resolution": 32, "precision": "float32"}
    return {
        "features": {"encoder": "efficientnet-lite0", "weights": str(path), "options": options},
        "method": {"name": "ridge"},
        "look": None,
        "tune": {"what": "all", "epochs": 2, "samples": 128, "lr": 1e-3},
    }


def test_killed_and_resumed_and_repeated_are_the_same_bytes(tmp_path, settings):
    split = Split(photos(260, 1), photos(60, 2))
    seen = []
    whole = fit(split, settings, folder=tmp_path / "whole", usable=lambda first: seen.append(first.result))
    assert seen[0]["tuning"]["kept"] is None
    assert seen[0]["method"] == "ridge"
    assert RunFolder.open(tmp_path / "whole").finished

    with pytest.raises(Killed):
        fit(split, settings, folder=tmp_path / "killed", progress=KilledInTheSecondEpoch())
    killed = RunFolder.open(tmp_path / "killed")
    assert not killed.finished
    assert load(tmp_path / "killed").class_names == NAMES  # the frozen answer can be used
    fit(split, killed.read_settings(), folder=killed)
    fit(split, RunFolder.open(tmp_path / "whole").read_config(), folder=tmp_path / "again")
    with pytest.raises(Killed):
        fit(split, settings, folder=tmp_path / "early", usable=killed_when_the_frozen_answer_is_there)
    early = RunFolder.open(tmp_path / "early")
    assert not early.finished
    fit(split, early.read_settings(), folder=early)
    for other in ("killed", "again", "early"):
        for name in FILES:
            assert (tmp_path / other / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), (other, name)
        results = [json.loads((tmp_path / run / "result.json").read_text()) for run in ("whole", other)]
        assert results[0] == results[1]
    assert whole.result["tuning"]["kept"] in ("tuned", "frozen")

    # What is kept answers like the model in memory, from raw photos on.
    x = split.test.inputs.tensor
    torch.testing.assert_close(load(tmp_path / "whole").predict_proba(x), whole.model.predict_proba(x))
    right = float((whole.model.predict_proba(x).argmax(1) == split.test.labels).double().mean())
    assert right == whole.result["test"]["accuracy"]
    told = gather(tmp_path / "whole", fitted=whole)
    assert not told.missing

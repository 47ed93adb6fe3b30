"""A run that is killed goes on as if nothing had happened: same weights, same history, bit for bit."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from tests.cut import Cut, CutAfter

from anchored._errors import InputError
from anchored.data import load_digits
from anchored.runs import RunFolder, TrainedModel, fit
from anchored.training import Progress, TrainingSetup

SETTINGS = {
    "data": {"source": "digits", "augment": ["crop=1", "flip"], "corrupt": ["symmetric=0.2"]},
    "method": {"name": "ce+mixup+fnpal"},
    "backbone": {"name": "cnn4"},
    "train": {"epochs": 5, "batch_size": 64, "ema": 0.95, "checkpoint_seconds": 0.05},
}

RUN = f"""
import sys
import torch
from anchored.data import load_digits
from anchored.runs import RunFolder, fit
torch.set_num_threads(1)
run = RunFolder(sys.argv[1])
print("ready", flush=True)
fit(load_digits(), {SETTINGS!r}, folder=run if run.started else run.path)
print("done", flush=True)
"""


def launched(folder):
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", RUN, str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert process.stdout.readline() == "ready\n"
    return process


def kept(folder):
    """What must not depend on the interruptions."""
    return {name: (Path(folder) / name).read_bytes() for name in ("model.safetensors", "history.jsonl", "model.json")}


@pytest.mark.slow
def test_killed_at_twenty_random_moments_it_ends_with_the_same_bytes(tmp_path):
    started = time.monotonic()
    with launched(tmp_path / "straight") as process:
        assert process.communicate()[0] == "done\n"
    length = time.monotonic() - started
    straight = kept(tmp_path / "straight")

    moments = random.Random(0)
    kills = starts = 0
    lives = 0
    while kills < 20:
        folder = tmp_path / f"life {lives}"
        with launched(folder) as process:
            starts += 1
            try:
                # Short lives, so that a run is killed several times before it ends.
                process.wait(timeout=moments.uniform(0.0, 0.5 * length))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                kills += 1
                continue
            assert process.returncode == 0
        assert kept(folder) == straight
        lives += 1
    last = tmp_path / f"life {lives}"
    with launched(last) as process:
        assert process.communicate()[0] == "done\n"
    assert kept(last) == straight
    assert starts >= 20
    assert not [path for path in last.rglob("*") if path.name.endswith(".tmp")], "a killed write leaves no litter"


def dropping():
    """A network that draws from torch's generator in every step, and counts in its buffers."""
    torch_layers = [torch.nn.Flatten(), torch.nn.Linear(64, 32), torch.nn.BatchNorm1d(32), torch.nn.ReLU()]
    module = torch.nn.Sequential(*torch_layers, torch.nn.Dropout(0.3), torch.nn.Linear(32, 16))
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(0.1 * torch.randn(parameter.shape, generator=generator))
    return module


@pytest.mark.parametrize("steps", [4, 21, 33, 41])
def test_dropout_goes_on_with_the_numbers_it_would_have_drawn(steps, tmp_path):
    settings = {
        "data": {"source": "digits"},
        "method": {"name": "ce"},
        "train": {"epochs": 2, "batch_size": 64, "ema": 0.9},
    }
    split = load_digits()
    straight = fit(split, settings, module=dropping())
    often = settings | {"train": settings["train"] | {"checkpoint_seconds": 0.0}}
    with pytest.raises(Cut):
        fit(split, often, folder=tmp_path / "run", module=dropping(), progress=CutAfter(steps))
    run, module = RunFolder.open(tmp_path / "run"), dropping()
    # The generator outside is somewhere else by now, which must not matter.
    torch.rand(17)
    before = torch.get_rng_state()
    resumed = fit(split, settings, folder=run, module=module)
    assert torch.equal(torch.get_rng_state(), before), "the caller's generator is given back"
    assert resumed.history == straight.history
    for name, value in straight.model.state_dict().items():
        assert torch.equal(resumed.model.state_dict()[name], value), name


class Bomb(Progress):
    """Breaks the model at a certain step, as a learning rate that is too high would."""

    def __init__(self, setups, steps):
        self.setups, self.left = setups, steps

    def step(self, *, batch, samples, loss):
        self.left -= 1
        if self.left == 0:
            with torch.no_grad():
                next(self.setups[-1].network.parameters()).fill_(float("inf"))


@pytest.fixture
def setups(monkeypatch):
    """Every training that is set up."""
    made, inner = [], TrainingSetup.__init__

    def watched(self, *arguments, **named):
        inner(self, *arguments, **named)
        made.append(self)

    monkeypatch.setattr(TrainingSetup, "__init__", watched)
    return made


@pytest.mark.parametrize("steps", [20, 25, 42])
def test_a_loss_that_is_not_finite_stops_with_one_line_and_keeps_the_last_good_checkpoint(steps, setups, tmp_path):
    settings = {
        "data": {"source": "digits"},
        "method": {"name": "ce"},
        "optimizer": {"lr": 0.05},
        "train": {"epochs": 2, "batch_size": 64},
    }
    split = load_digits()
    with pytest.raises(InputError, match=r"epoch \d, batch \d+; .*optimizer.lr.*the last checkpoint is kept") as caught:
        fit(split, settings, folder=tmp_path / "run", module=dropping(), progress=Bomb(setups, steps))
    assert "\n" not in str(caught.value)
    run = RunFolder.open(tmp_path / "run")
    assert not run.finished
    checkpoint = run.read_checkpoint()
    if steps <= 20:  # nothing was kept before the first epoch ended: the run begins anew
        assert checkpoint is None
    else:
        assert checkpoint.facts["epoch"] == 1
        assert all(torch.isfinite(t).all() for t in checkpoint.tensors.values() if t.is_floating_point())
    gentler = settings | {"optimizer": {"lr": 0.01}}
    resumed = fit(split, gentler, folder=run, module=dropping())
    assert resumed.result["epochs"] == 2
    assert run.read_config().optimizer.lr == 0.01, "the folder says what was done last"
    assert TrainedModel.load(run.path, backbone=dropping()).class_names == resumed.model.class_names


def test_a_learning_rate_that_is_far_too_high_is_found_out(tmp_path):
    settings = {
        "data": {"source": "digits"},
        "method": {"name": "ce"},
        "backbone": {"name": "tiny"},
        "optimizer": {"lr": 1e30, "clip": None},
        "train": {"epochs": 2},
    }
    with pytest.raises(InputError, match=r"the loss became (nan|inf) in epoch 1, batch \d+; lower optimizer.lr"):
        fit(load_digits(), settings, folder=tmp_path / "run")
    assert RunFolder.open(tmp_path / "run").read_checkpoint() is None


def test_of_two_fits_into_one_folder_the_second_is_refused_and_names_the_first(tmp_path):
    command = [sys.executable, "-m", "anchored", "fit", "digits", "--method", "ce", "--no-report", "--out", "run"]
    first = subprocess.Popen([*command, "--epochs", "400"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        while not (tmp_path / "run" / "config.yaml").is_file():
            assert first.poll() is None, first.stderr.read()
            time.sleep(0.05)
        second = subprocess.run(
            [sys.executable, "-m", "anchored", "resume", "run"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert second.returncode == 2
        assert second.stderr.count("\n") == 1
        assert f"is in use by process {first.pid} on" in second.stderr
    finally:
        first.kill()
        first.wait()
        first.stderr.close()
    again = subprocess.run([*command, "--epochs", "2"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.returncode == 2
    assert "interrupted; go on with: anchored resume run" in again.stderr

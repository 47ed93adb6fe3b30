"""Two processes on one machine, as ``torchrun`` starts them: the same training as one process does, resumed or not."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from anchored.data import corrupt, hold_out, load_digits
from anchored.imbalance import epoch_order
from anchored.runs import RunFolder, TrainedModel

pytest.importorskip("lightning_fabric")
pytestmark = pytest.mark.slow

WORKER = Path(__file__).with_name("worker.py")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(folder, *scenarios, processes=2):
    """The scenarios on so many processes, talking over loopback only, with every warning an error."""
    command = [sys.executable, str(WORKER), str(folder), *scenarios]
    if processes > 1:
        launcher = ["-m", "torch.distributed.run", "--nproc-per-node", str(processes)]
        where = ["--master-addr", "127.0.0.1", "--master-port", str(free_port())]
        command[1:1] = [*launcher, *where]
    quiet = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", "PYTHONWARNINGS": "error"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | quiet)


def finished(process, timeout=300):
    out, err = process.communicate(timeout=timeout)
    assert process.returncode == 0, err[-3000:]
    return out, err


def told(folder, scenario, rank):
    return json.loads((folder / f"{scenario}.{rank}.json").read_text())


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    finished(start(folder, "plain", "mixed", "weighted", "stopped", "cut", "resumed", "long"))
    return folder


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    folder = tmp_path_factory.mktemp("one")
    finished(start(folder, "plain", "weighted", "long", processes=1))
    return folder


def trained_on(scenario):
    """The samples that a scenario trains on: long-tailed where it says so, and without those held out."""
    data, shape = load_digits().train, {"mixed": ["longtail=10"], "weighted": ["longtail=10", "symmetric=0.2"]}
    if scenario in shape:
        data = corrupt(data, shape[scenario], seed=0).dataset
    return hold_out(data, 0.1, 0)[0]


@pytest.mark.parametrize(("scenario", "sampling"), [("plain", "instance"), ("mixed", "balanced")])
def test_the_processes_share_the_order_of_an_epoch_and_nothing_is_seen_twice(two, scenario, sampling):
    labels = trained_on(scenario).labels
    ranks = [told(two, scenario, rank)["seen"] for rank in (0, 1)]
    assert len(ranks[0]) > 1
    for epoch in ranks[0]:
        order = epoch_order(labels, sampling=sampling, seed=0, epoch=int(epoch)).tolist()
        together = [index for part in ranks for index in part[epoch]]
        left_out = len(order) - len(together)
        assert sorted(together) == sorted(order[: len(order) - left_out])
        assert left_out < 4, "only what would be a batch of one"
        assert abs(len(ranks[0][epoch]) - len(ranks[1][epoch])) <= 1


@pytest.mark.parametrize("scenario", ["plain", "weighted", "long"])
def test_half_the_batch_on_each_of_two_is_the_whole_batch_on_one(one, two, scenario):
    alone, shared = told(one, scenario, 0)["history"], told(two, scenario, 0)["history"]
    assert len(alone) == len(shared)
    for expected, got in zip(alone, shared, strict=True):
        assert got["samples"] == expected["samples"]
        assert got["train_loss"] == pytest.approx(expected["train_loss"], rel=1e-4)
        assert got["held_out_loss"] == pytest.approx(expected["held_out_loss"], rel=1e-3)
        assert got["train_accuracy"] == pytest.approx(expected["train_accuracy"], abs=2e-3)


@pytest.mark.parametrize("scenario", ["plain", "mixed", "weighted", "stopped", "cut", "long"])
def test_the_processes_tell_the_same_story(two, scenario):
    first, second = (told(two, scenario, rank) for rank in (0, 1))
    assert first["history"] == second["history"]
    assert first["result"] == second["result"]


def test_the_processes_agree_when_to_stop_early(two):
    first, second = (told(two, "stopped", rank) for rank in (0, 1))
    assert len(first["history"]) < 40
    assert [record["epochs_worse"] for record in first["history"][-3:]] == [0, 1, 2]
    assert first["result"]["kept_epoch"] < len(first["history"])
    assert first["history"] == second["history"]


def test_mixup_blends_in_the_same_proportion_on_both(two):
    first, second = (told(two, "mixed", rank)["shares"] for rank in (0, 1))
    assert first == second
    assert len(set(first)) == len(first) > 10


@pytest.mark.parametrize("scenario", ["plain", "weighted", "long"])
def test_metrics_are_those_of_the_whole_test_set(two, scenario):
    test, model = load_digits().test, TrainedModel.load(two / scenario)
    probabilities = model.predict_proba(test.inputs.take(torch.arange(len(test))))
    accuracy = (probabilities.argmax(dim=1) == test.labels).double().mean().item()
    assert told(two, scenario, 1)["result"]["test"]["accuracy"] == pytest.approx(accuracy, abs=1e-9)


def test_stopped_within_an_epoch_two_processes_go_on_to_the_very_same_weights(two):
    # Dropout on each process and BatchNorm's statistics included.
    resumed = told(two, "resumed", 1)
    assert resumed["position"] == [0, 50], "within an epoch, at the last batch where the processes asked each other"
    assert resumed["history"] == told(two, "cut", 0)["history"]
    for name in ("model.safetensors", "history.jsonl"):
        assert (two / "resumed" / name).read_bytes() == (two / "cut" / name).read_bytes()


def test_a_killed_process_ends_the_job_and_the_run_can_go_on(two, tmp_path):
    job = start(tmp_path, "long:slowly")
    history = tmp_path / "long" / "history.jsonl"
    deadline = time.monotonic() + 120
    while not (history.is_file() and len(history.read_text().splitlines()) >= 2):
        assert time.monotonic() < deadline
        assert job.poll() is None, job.communicate()[1][-3000:]
        time.sleep(0.05)
    os.kill(int((tmp_path / "pid.1").read_text()), signal.SIGKILL)
    _, err = job.communicate(timeout=60)
    assert job.returncode != 0
    assert "SIGKILL" in err, "the launcher says who was killed, and by what"
    run = RunFolder.open(tmp_path / "long")
    assert not run.finished
    assert 0 < run.read_checkpoint().facts["epoch"] < 6
    finished(start(tmp_path, "long"))
    for name in ("model.safetensors", "history.jsonl"):
        assert (run.path / name).read_bytes() == (two / "long" / name).read_bytes()

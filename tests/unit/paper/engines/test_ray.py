"""Mirror of src/anchored/paper/engines/ray.py: what Ray is asked for, with a Ray that only remembers."""

import socket
from types import SimpleNamespace

import pytest
from tests.unit.paper.tiny import TINY

from anchored._errors import InputError
from anchored.paper import Outcome, Placement
from anchored.paper.engines import RayEngine
from anchored.paper.engines import ray as module

PLACE, FINISHED = Placement("store"), Outcome("finished")
JOB = TINY.job("ce", "digits/0.0", seed=0)


class FakeRay:
    """Tasks are done the moment they are asked for; ``cluster`` says whether there is one to join."""

    class RayError(Exception):
        pass

    def __init__(self, *, cluster=False, cpus=8.0, gpus=1.0, outcome=FINISHED):
        self.exceptions = SimpleNamespace(RayError=self.RayError)
        self.cluster, self.there, self.outcome = cluster, {"CPU": cpus, "GPU": gpus}, outcome
        self.inits, self.options, self.cancelled, self.closed = [], None, [], False

    def is_initialized(self):
        return False

    def init(self, **options):
        self.inits.append(options)
        if options["address"] == "auto" and not self.cluster:
            raise ConnectionError

    def cluster_resources(self):
        return self.there

    def remote(self, **options):
        self.options = options
        return lambda function: SimpleNamespace(remote=lambda job, place: job.key)

    def wait(self, tasks, *, num_returns, timeout):
        return tasks, []

    def get(self, task):
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome

    def cancel(self, task, *, force):
        self.cancelled.append(task)

    def shutdown(self):
        self.closed = True


def made(monkeypatch, ray, place=PLACE, **options):
    monkeypatch.setattr(module, "_ray", lambda: ray)
    return RayEngine(place, **options)


def test_an_existing_cluster_is_joined_and_a_local_one_started_otherwise(monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    ray = FakeRay(cluster=True)
    made(monkeypatch, ray)
    assert [options["address"] for options in ray.inits] == ["auto"]
    ray = FakeRay()
    made(monkeypatch, ray, jobs=2)
    assert [options["address"] for options in ray.inits] == ["auto", "local"]
    assert ray.inits[1]["num_cpus"] >= 2


def test_each_job_asks_for_its_threads_and_its_share_of_a_gpu(monkeypatch):
    ray = FakeRay()
    engine = made(monkeypatch, ray, Placement("store", threads=2), gpus=0.5)
    assert ray.options == {"num_cpus": 2, "num_gpus": 0.5, "max_retries": 3}
    assert engine.free == 2  # four by the cores, two by the GPU


def test_a_cluster_without_room_is_refused(monkeypatch):
    with pytest.raises(InputError, match="no room for a cell of 1 threads and 2 GPUs"):
        made(monkeypatch, FakeRay(), gpus=2.0)
    with pytest.raises(InputError, match="no room for a cell of 1 threads and 2 GPUs"):
        made(monkeypatch, FakeRay(cluster=True), gpus=2.0, jobs=1)  # would wait for ever


def test_more_jobs_than_the_cluster_has_room_for_wait_here(monkeypatch):
    assert made(monkeypatch, FakeRay(cluster=True, cpus=4.0), jobs=9).free == 4
    assert made(monkeypatch, FakeRay(cluster=True, cpus=4.0), jobs=3).free == 3


def test_a_named_cluster_that_does_not_answer_is_refused_at_once(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens here
        port = taken.getsockname()[1]
        for address in (f"127.0.0.1:{port}", f"ray://127.0.0.1:{port}"):
            monkeypatch.setenv("RAY_ADDRESS", address)
            ray = FakeRay(cluster=True)
            with pytest.raises(InputError, match=f"no Ray cluster answers at RAY_ADDRESS={address}; start it"):
                made(monkeypatch, ray)
            assert ray.inits == []
        taken.listen()
        assert made(monkeypatch, FakeRay(cluster=True), jobs=1).free == 1
        ray = FakeRay()  # somebody listens, but it is no Ray: a local cluster is not what was asked for
        with pytest.raises(InputError, match="no Ray cluster answers"):
            made(monkeypatch, ray)


def test_outcomes_come_back_and_what_ray_gave_up_is_lost(monkeypatch):
    engine = made(monkeypatch, FakeRay(), jobs=1)
    engine.start(JOB)
    assert engine.free == 0
    assert engine.wait(0.0) == [(JOB, Outcome("finished"))]
    engine = made(monkeypatch, FakeRay(outcome=FakeRay.RayError("the node died\nand more")), jobs=1)
    engine.start(JOB)
    assert engine.wait(0.0) == [(JOB, Outcome("lost", "Ray gave up on it: the node died"))]
    assert engine.wait(0.0) == []


def test_closing_cancels_and_leaves_the_cluster(monkeypatch):
    ray = FakeRay()
    engine = made(monkeypatch, ray, jobs=1)
    engine.start(JOB)
    engine.close()
    assert ray.cancelled == [JOB.key]
    assert ray.closed

"""Mirror of src/anchored/paper/engines/local.py: a process per job, and what happens when it dies."""

import os
import signal
from dataclasses import replace

import pytest
import torch
from tests.unit.paper.tiny import TINY

from anchored.paper import Placement
from anchored.paper.engines import LocalEngine
from anchored.paper.engines import local as module


def ended(engine):
    while True:
        if found := engine.wait(1.0):
            return found


def test_as_many_at_a_time_as_there_are_cores_for_their_threads():
    cores = len(os.sched_getaffinity(0))
    assert LocalEngine(Placement("store", device="cpu")).free == cores
    assert LocalEngine(Placement("store", threads=10 * cores)).free == 1


def test_a_gpu_has_one_job_at_a_time_unless_more_are_asked_for(monkeypatch):
    monkeypatch.setattr(module, "pick_device", lambda name: torch.device("cuda"))
    assert LocalEngine(Placement("store")).free == 1
    assert LocalEngine(Placement("store"), jobs=3).free == 3


def test_nothing_going_on_is_nothing_to_wait_for():
    assert LocalEngine(Placement("store"), jobs=1).wait(0.0) == []


@pytest.mark.slow
def test_a_job_is_done_in_another_process(store, place):
    job = TINY.job("ce", "digits/0.0", seed=0, epochs=1)
    engine = LocalEngine(place, jobs=2)
    engine.start(job)
    assert engine.free == 1
    assert [(done.key, outcome.status) for done, outcome in ended(engine)] == [(job.key, "finished")]
    assert engine.free == 2
    assert store.state(job) == "finished"
    assert store.lock(job).owner()["pid"] != os.getpid()
    engine.close()


@pytest.mark.slow
def test_a_killed_process_is_lost_and_a_closed_engine_leaves_none(store, place):
    long = TINY.job("ce", "digits/0.0", seed=0, epochs=100_000)
    engine = LocalEngine(place, jobs=2)
    engine.start(long)
    ((_, process),) = engine._running.values()
    os.kill(process.pid, signal.SIGKILL)
    ((job, outcome),) = ended(engine)
    assert job == long
    assert (outcome.status, outcome.message) == ("lost", "its process ended with signal 9")
    engine.start(replace(long, seed=1))
    ((_, process),) = engine._running.values()
    engine.close()
    assert process.exitcode == -signal.SIGTERM
    assert engine.free == 2

"""Mirror of src/anchored/paper/engines/inline.py: one job at a time, in this process, followed step by step."""

import os

import pytest

from anchored.paper import Placement
from anchored.paper.engines import InlineEngine
from anchored.training import Progress


class Counts(Progress):
    def __init__(self):
        self.epochs, self.processes = 0, set()

    def epoch(self, record, *, seconds, samples):
        self.epochs += 1
        self.processes.add(os.getpid())


def test_a_job_is_run_when_it_is_waited_for(tiny, store, place):
    job, heard = tiny.job("ce", "digits/0.0", seed=0), {}
    engine = InlineEngine(place, progress_of=lambda job: heard.setdefault(job.key, Counts()))
    assert engine.free == 1
    engine.start(job)
    assert engine.free == 0
    assert store.state(job) == "missing"
    ((ended, outcome),) = engine.wait(0.0)
    assert (ended, outcome.status, engine.free) == (job, "finished", 1)
    assert store.state(job) == "finished"
    assert (heard[job.key].epochs, heard[job.key].processes) == (2, {os.getpid()})
    assert engine.wait(0.0) == []


def test_a_job_that_was_not_run_is_forgotten_when_the_engine_is_closed(tiny, store, place):
    engine = InlineEngine(place)
    engine.start(tiny.job("ce", "digits/0.0", seed=0))
    engine.close()
    assert engine.wait(0.0) == []
    assert store.state(tiny.job("ce", "digits/0.0", seed=0)) == "missing"


@pytest.mark.parametrize("threads", [1])
def test_the_placement_is_that_of_the_job(tiny, tmp_path, threads):
    engine = InlineEngine(Placement(str(tmp_path / "missing"), threads=threads, device="cpu"))
    engine.start(tiny.job("ce", "digits/0.0", seed=0))
    ((_, outcome),) = engine.wait(0.0)
    assert outcome.status == "failed"
    assert "missing" in outcome.message

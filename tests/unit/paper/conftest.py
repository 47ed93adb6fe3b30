"""The tiny table, a store for it, and an engine that does jobs in this process."""

import pytest
from tests.unit.paper.tiny import TINY

from anchored.paper import Placement, Results, Store, run_job
from anchored.paper.engines import Engine


class InlineEngine(Engine):
    """Does a job at once; ``outcomes`` are given instead of doing it, as long as there are any."""

    def __init__(self, place, *, limit=2, outcomes=()):
        self.place, self.limit, self.outcomes = place, limit, list(outcomes)
        self.started, self.done, self.closed = [], [], False

    @property
    def free(self):
        return self.limit - len(self.done)

    def start(self, job):
        self.started.append(job)
        self.done.append((job, self.outcomes.pop(0) if self.outcomes else run_job(job, self.place)))

    def wait(self, seconds):
        ended, self.done = self.done, []
        return ended

    def close(self):
        self.closed = True


@pytest.fixture
def tiny():
    return TINY


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "store")
    store.make()
    return store


@pytest.fixture
def place(store):
    return Placement(str(store.path), device="cpu")


@pytest.fixture
def results(tmp_path):
    return Results(tmp_path / "results")


@pytest.fixture
def inline():
    return InlineEngine

"""Mirror of src/anchored/paper/engines/slurm.py: what submitit is asked for, with one that only remembers."""

from types import SimpleNamespace

import pytest
from tests.unit.paper.tiny import TINY

from anchored._errors import InputError
from anchored.paper import Outcome, Placement
from anchored.paper.engines import SlurmEngine
from anchored.paper.engines import slurm as module

MADE = []
JOB = TINY.job("ce", "digits/0.0", seed=0)


class FakeJob:
    job_id = "17"

    def __init__(self, task, answer):
        self.task, self.answer, self.cancelled = task, answer, False

    def done(self):
        return self.answer is not None

    def result(self):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def cancel(self):
        self.cancelled = True


class FakeExecutor:
    answer = Outcome("finished")

    def __init__(self, folder, cluster):
        self.folder, self.cluster, self.submitted = folder, cluster, []
        MADE.append(self)

    def update_parameters(self, **parameters):
        if "partition" in parameters:
            raise NameError("Unknown argument: partition")
        self.parameters = parameters

    def submit(self, task):
        self.submitted.append(FakeJob(task, self.answer))
        return self.submitted[-1]


@pytest.fixture
def executor(monkeypatch):
    delayed = SimpleNamespace(DelayedSubmission=lambda task: ("again", task))
    monkeypatch.setattr(module, "_submitit", lambda: SimpleNamespace(AutoExecutor=FakeExecutor, helpers=delayed))
    monkeypatch.setattr(FakeExecutor, "answer", Outcome("finished"))

    def last():
        return MADE[-1]

    return last


def test_each_job_asks_for_its_threads_and_gpus(executor, tmp_path):
    engine = SlurmEngine(
        Placement(str(tmp_path), threads=4), gpus=1, parameters={"slurm_partition": "gpu"}, cluster="local"
    )
    assert executor().parameters == {
        "timeout_min": 1440,
        "cpus_per_task": 4,
        "name": "anchored",
        "slurm_partition": "gpu",
        "gpus_per_node": 1,
    }
    assert executor().folder == tmp_path / "slurm"
    assert engine.free == 100


def test_outcomes_come_back_and_broken_jobs_are_lost(executor, monkeypatch):
    engine = SlurmEngine(Placement("store"), jobs=2, cluster="local")
    engine.start(JOB)
    monkeypatch.setattr(FakeExecutor, "answer", RuntimeError("node failure\nlong story"))
    engine.start(JOB)
    assert engine.free == 0
    assert engine.wait(0.0) == [(JOB, Outcome("finished")), (JOB, Outcome("lost", "Slurm job 17: node failure"))]
    assert engine.free == 2


def test_waiting_ends_and_closing_cancels(executor, monkeypatch):
    monkeypatch.setattr(FakeExecutor, "answer", None)
    engine = SlurmEngine(Placement("store"), cluster="local")
    engine.start(JOB)
    assert engine.wait(0.01) == []
    engine.close()
    assert executor().submitted[0].cancelled


def test_a_job_whose_time_is_over_is_submitted_again(executor):
    engine = SlurmEngine(Placement("store"), cluster="local")
    engine.start(JOB)
    task = executor().submitted[0].task
    assert task.checkpoint() == ("again", task)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "there is no sbatch here"),
        ({"cluster": "local", "gpus": 0.5}, "Slurm gives whole GPUs, got 0.5; use --on ray"),
        ({"cluster": "local", "parameters": {"partition": "gpu"}}, "--slurm: submitit does not take these settings"),
    ],
)
def test_refuses_what_slurm_cannot_do(executor, options, words, monkeypatch):
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    with pytest.raises(InputError, match=words):
        SlurmEngine(Placement("store"), **options)

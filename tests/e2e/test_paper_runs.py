"""Runs of the catalogue in real processes: what is killed goes on, and the numbers are those of one straight run."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.unit.paper.tiny import TINY

from anchored.paper import Placement, Results, Store, record_of, run, run_job
from anchored.paper.engines import LocalEngine

TINY_FOLDER = Path(__file__).parents[1] / "unit" / "paper"  # an installed package may be called tests, too
RUN = """
import sys
sys.path.insert(0, sys.argv[3])
from anchored.paper import Placement, Results, Store, run
from anchored.paper.engines import LocalEngine
from tiny import TINY
if __name__ == "__main__":
    jobs = TINY.jobs(methods=["ce", "ce+fnpal"], cells=["digits/0.4"], seeds=[0], epochs=int(sys.argv[4]))
    engine = LocalEngine(Placement(sys.argv[1], device="cpu"), jobs=2)
    print("ready", flush=True)
    summary = run(jobs, Store(sys.argv[1]), Results(sys.argv[2]), engine)
    print(len(summary.finished), len(summary.skipped), len(summary.failed), flush=True)
"""


def jobs(epochs):
    return TINY.jobs(methods=["ce", "ce+fnpal"], cells=["digits/0.4"], seeds=[0], epochs=epochs)


def runner(tmp_path, epochs):
    script = tmp_path / "runner.py"
    script.write_text(RUN)
    process = subprocess.Popen(
        [
            sys.executable,
            str(script),
            str(tmp_path / "store"),
            str(tmp_path / "results"),
            str(TINY_FOLDER),
            str(epochs),
        ],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert process.stdout.readline() == "ready\n"
    return process


def straight(tmp_path, epochs):
    """The records of the same jobs, one after the other in this process."""
    store = Store(tmp_path / "straight")
    store.make()
    for job in jobs(epochs):
        assert run_job(job, Placement(str(store.path), device="cpu")).status == "finished"
    return [record_of(job, store) for job in jobs(epochs)]


def same(records, others):
    """Equal in all but the time they took."""
    return [{**each, "seconds": 0} for each in records] == [{**each, "seconds": 0} for each in others]


def owner(store, job):
    return store.lock(job).owner().get("pid")


def wait_for_epochs(store, job, n):
    until = time.monotonic() + 120
    while store.epochs_done(job) < n:
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.slow
def test_a_killed_worker_loses_nothing(tmp_path):
    epochs = 60
    store, first = Store(tmp_path / "store"), jobs(epochs)[0]
    with runner(tmp_path, epochs) as process:
        wait_for_epochs(store, first, 3)
        os.kill(owner(store, first), signal.SIGKILL)
        assert process.stdout.readline() == "2 0 0\n"
    assert same(Results(tmp_path / "results").read("tiny"), straight(tmp_path, epochs))


@pytest.mark.slow
def test_a_killed_runner_takes_its_workers_along_and_the_next_one_goes_on(tmp_path):
    epochs = 60
    store, first = Store(tmp_path / "store"), jobs(epochs)[0]
    with runner(tmp_path, epochs) as process:
        wait_for_epochs(store, first, 3)
        worker = owner(store, first)
        process.kill()
        process.wait()
    until = time.monotonic() + 30
    while Path(f"/proc/{worker}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(f"/proc/{worker}").exists()
    done = store.epochs_done(first)
    assert 3 <= done < epochs
    assert Results(tmp_path / "results").read("tiny") == []
    with runner(tmp_path, epochs) as process:
        assert process.stdout.readline() == "2 0 0\n"
    assert same(Results(tmp_path / "results").read("tiny"), straight(tmp_path, epochs))


@pytest.mark.slow
def test_two_runners_share_a_store(tmp_path):
    with runner(tmp_path, 8) as one, runner(tmp_path, 8) as two:
        ended = [process.stdout.readline().split() for process in (one, two)]
    assert all(int(finished) + int(skipped) == 2 and failed == "0" for finished, skipped, failed in ended)
    records = Results(tmp_path / "results").read("tiny")
    assert same(records, straight(tmp_path, 8))
    text = (tmp_path / "results" / "tiny.jsonl").read_text()
    assert [json.loads(line) for line in text.splitlines()] == records


@pytest.mark.slow
def test_the_command_runs_a_pool_and_compares(anchored, tmp_path, monkeypatch):
    from anchored.paper import TABLES

    monkeypatch.setitem(TABLES, "tiny", TINY)
    arguments = ("--seeds", "0", "--jobs", "2", "--store", tmp_path / "store", "--cell", "digits/0.0", "--json")
    ran = anchored("paper", "run", "tiny", *arguments)
    assert ran.code == 0
    assert len(json.loads(ran.out)["finished"]) == 3
    assert "3 cells, 0 finished before" in ran.err
    compared = anchored("paper", "compare", "tiny", "--only-run")
    assert "| CE | ours |" in compared.out
    engine = LocalEngine(Placement(str(tmp_path / "store"), device="cpu"), jobs=1)
    again = run(TINY.jobs(cells=["digits/0.0"], seeds=[0]), Store(tmp_path / "store"), Results("results"), engine)
    assert len(again.skipped) == 3

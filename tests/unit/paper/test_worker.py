"""Mirror of src/anchored/paper/worker.py: a job is done once, goes on, or says why not."""

from dataclasses import replace

import pytest

from anchored._errors import InputError
from anchored.data import load_digits
from anchored.paper import Placement, run_job
from anchored.paper.results import record_of
from anchored.paper.worker import Outcome, check_data, located
from anchored.runs import RunFolder, fit
from anchored.training import Progress


def test_the_result_is_that_of_the_same_settings_without_a_catalogue(tiny, store, place, tmp_path):
    job = tiny.job("ce+fnpal", "digits/0.4", seed=1)
    assert run_job(job, place).status == "finished"
    plain = fit(load_digits(), job.settings | {"train": job.settings["train"] | {"device": "cpu"}})
    assert store.run(job).read_lines("history.jsonl") == plain.history
    assert store.run(job).read_result()["test"] == plain.result["test"]


def test_a_finished_job_is_left_as_it_is(tiny, store, place):
    job = tiny.job("ce", "digits/0.0", seed=0)
    run_job(job, place)
    result = store.run(job).path / "result.json"
    result.write_text("{}")
    assert run_job(job, place).status == "finished"
    assert result.read_text() == "{}"


def test_a_broken_job_goes_on_and_ends_the_same(tiny, store, place):
    class Broken(Exception):
        pass

    class Breaks(Progress):
        def epoch(self, record, **_):
            if record["epoch"] == 2:
                raise Broken

    job = tiny.job("ce", "digits/0.4", seed=0)
    assert run_job(job, place, progress=Breaks()).status == "failed"
    run = store.run(job)
    assert run.started
    assert not run.finished
    assert run_job(job, place).status == "finished"
    other = Placement(store.path / "other", device="cpu")
    (store.path / "other" / "locks").mkdir(parents=True)
    run_job(job, other)
    straight = RunFolder(store.path / "other" / "runs" / job.key)
    assert run.read_lines("history.jsonl") == straight.read_lines("history.jsonl")
    assert (run.path / "model.safetensors").read_bytes() == (straight.path / "model.safetensors").read_bytes()


def test_what_auto_decided_stays_decided_when_its_job_goes_on(tiny, store, place):
    class Breaks(Progress):
        def epoch(self, record, **_):
            if record["epoch"] == 4:  # the two models that look at the labels have three
                raise RuntimeError

    job = tiny.job("ce", "digits/0.4", seed=0, epochs=5)
    settings = {**job.settings, "method": {"name": "auto"}, "data": {**job.settings["data"], "hold_out": 0.1}}
    job = replace(job, settings=settings)
    assert run_job(job, place, progress=Breaks()).status == "failed"
    run = store.run(job)
    assert run.read_config().train.labels == "cleaned"
    assert run_job(job, place) == Outcome("finished")
    other = Placement(store.path / "other", device="cpu")
    (store.path / "other" / "locks").mkdir(parents=True)
    run_job(job, other)
    straight = RunFolder(store.path / "other" / "runs" / job.key)
    assert run.read_config() == straight.read_config()
    assert (run.path / "model.safetensors").read_bytes() == (straight.path / "model.safetensors").read_bytes()
    last = record_of(job, store)["last"]
    assert last["noise_drawn"] == pytest.approx(0.4, abs=0.01)
    assert last["noise_estimated"] == pytest.approx(run.read_result()["auto"]["noise_rate"], rel=1e-5)


def test_a_job_in_other_hands_is_left_to_them(tiny, store, place):
    job = tiny.job("ce", "digits/0.0", seed=0)
    with store.lock(job):
        outcome = run_job(job, place)
    assert outcome.status == "busy"
    assert "process" in outcome.message
    assert store.state(job) == "missing"


def test_what_is_wrong_with_a_job_is_its_outcome(tiny, store, place):
    job = tiny.job("ce", "digits/0.0", seed=0)
    strange = replace(job, settings=job.settings | {"method": {"name": "cee"}})
    outcome = run_job(strange, place)
    assert outcome.status == "failed"
    assert "unknown word 'cee'" in outcome.message
    assert not store.run(strange).path.exists()


def test_a_lock_that_cannot_be_opened_is_an_outcome_too(tiny, store, place):
    job = tiny.job("ce", "digits/0.0", seed=0)
    store.lock(job).path.mkdir()
    outcome = run_job(job, place)
    assert outcome.status == "failed"
    assert outcome.message.startswith(f"cannot open {store.lock(job).path} to lock it: Is a directory; make it")


def test_lists_are_looked_for_in_the_data_root_and_built_in_sets_are_not(tiny, place):
    job = tiny.job("ce", "digits/0.0", seed=0)
    there = replace(place, data_root="/data")
    assert located(job, there)["data"]["source"] == "digits"
    data = {"source": "train.txt", "test": "sub/val.txt"}
    found = located(replace(job, settings=job.settings | {"data": data}), there)["data"]
    assert (found["source"], found["test"], found["root"]) == ("/data/train.txt", "/data/sub/val.txt", "/data")


def test_missing_data_is_refused_before_anything_is_done(place, tmp_path):
    from anchored.paper import TABLES

    jobs = TABLES["noise_symmetric"].jobs(methods=["ce"], cells=["mnist/0.8"], seeds=[0])
    with pytest.raises(InputError, match="anchored data mnist --root"):
        check_data(jobs, replace(place, data_root=str(tmp_path)))
    with pytest.raises(InputError, match="--data-root"):
        check_data(jobs, place)

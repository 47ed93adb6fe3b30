"""Mirror of src/anchored/paper/runner.py: skip, resume, retry, leave to others, and record all of it."""

import threading
import time
from dataclasses import replace

import pytest

from anchored._errors import InputError
from anchored.paper import Outcome, Results, Watcher, run, run_job
from anchored.paper import runner as module
from anchored.paper.store import Store
from anchored.runs import fit


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE", 0.0)
    monkeypatch.setattr(module, "_BEAT", 0.0)


class Hears(Watcher):
    def __init__(self):
        self.heard = []

    def begin(self, jobs, finished):
        self.heard.append(("begin", len(jobs), finished))

    def started(self, job):
        self.heard.append(("started", job.row))

    def ended(self, job, outcome):
        self.heard.append((outcome.status, job.row))

    def end(self):
        self.heard.append("end")


def test_jobs_are_done_and_recorded(tiny, store, results, place, inline):
    jobs = tiny.jobs(methods=["ce", "ce+fnpal"], cells=["digits/0.0"], seeds=[0])
    engine, hears = inline(place), Hears()
    summary = run(jobs, store, results, engine, hears)
    assert summary.finished == jobs
    assert not summary.failed
    assert engine.closed
    assert [record["row"] for record in results.read("tiny")] == ["ce", "ce+fnpal"]
    assert hears.heard == [
        ("begin", 2, 0),
        ("started", "ce"),
        ("started", "ce+fnpal"),
        ("finished", "ce"),
        ("finished", "ce+fnpal"),
        "end",
    ]


def test_finished_jobs_are_recorded_and_not_done_again(tiny, store, results, place, inline):
    jobs = tiny.jobs(methods=["ce"], cells=["digits/0.0"], seeds=[0])
    run_job(jobs[0], place)
    engine = inline(place)
    summary = run(jobs, store, results, engine)
    assert summary.skipped == jobs
    assert engine.started == []
    assert len(results.read("tiny")) == 1


def test_a_record_is_enough_where_the_store_is_gone_but_not_that_of_other_settings(tiny, store, results, place, inline):
    jobs = tiny.jobs(methods=["ce"], cells=["digits/0.0"], seeds=[0])
    run(jobs, store, results, inline(place))
    elsewhere = Store(store.path / "elsewhere")
    engine = inline(replace(place, store=str(elsewhere.path)))
    assert run(jobs, elsewhere, results, engine).skipped == jobs
    assert engine.started == []
    other = [replace(jobs[0], settings={**jobs[0].settings, "optimizer": {"lr": 0.5}})]
    assert run(other, elsewhere, results, engine).finished == other


def test_jobs_with_the_same_settings_are_done_once_and_recorded_for_both_tables(tiny, store, results, place, inline):
    job = tiny.job("ce", "digits/0.0", seed=0)
    other = replace(job, table="another", row="plain")
    engine = inline(place)
    summary = run([job, other], store, results, engine)
    assert engine.started == [job]
    assert summary.finished == [job, other]
    assert len(results.read("tiny")) == len(results.read("another")) == 1


def test_a_record_made_for_another_table_is_enough_where_the_store_is_gone(tiny, store, results, place, inline):
    job = tiny.job("ce", "digits/0.0", seed=0)
    run([job], store, results, inline(place))
    other = replace(job, table="another", row="plain")
    elsewhere = Store(store.path / "elsewhere")
    engine = inline(replace(place, store=str(elsewhere.path)))
    assert run([other], elsewhere, results, engine).skipped == [other]
    assert engine.started == []
    (made,), (shared,) = results.read("tiny"), results.read("another")
    assert shared == made | {"table": "another", "row": "plain"}


def test_a_lost_process_is_replaced_but_not_for_ever(tiny, store, results, place, inline):
    jobs = tiny.jobs(methods=["ce"], cells=["digits/0.0"], seeds=[0])
    engine = inline(place, outcomes=[Outcome("lost", "signal 9")] * 2)
    assert run(jobs, store, results, engine).finished == jobs
    assert len(engine.started) == 3
    more = tiny.jobs(methods=["ce"], cells=["digits/0.4"], seeds=[0])
    engine = inline(place, outcomes=[Outcome("lost", "signal 9")] * 3)
    summary = run(more, store, results, engine)
    assert summary.failed == [(more[0], "signal 9")]


def test_what_fails_does_not_keep_the_rest_from_being_done(tiny, store, results, place, inline):
    jobs = tiny.jobs(cells=["digits/0.0"], seeds=[0])
    engine = inline(place, outcomes=[Outcome("failed", "no")])
    summary = run(jobs, store, results, engine)
    assert summary.failed == [(jobs[0], "no")]
    assert summary.finished == jobs[1:]


def test_what_is_in_other_hands_is_looked_at_again_after_the_rest(tiny, store, results, place, inline):
    jobs = tiny.jobs(methods=["ce", "ce+fnpal"], cells=["digits/0.0"], seeds=[0])
    engine = inline(place, limit=1, outcomes=[Outcome("busy")])
    summary = run(jobs, store, results, engine)
    assert [job.row for job in engine.started] == ["ce", "ce+fnpal", "ce"]
    assert {job.row for job in summary.finished} == {"ce", "ce+fnpal"}


def test_no_process_is_started_for_what_another_runner_has_in_hand(tiny, store, results, place, inline):
    mine, other = tiny.jobs(methods=["ce", "ce+fnpal"], cells=["digits/0.0"], seeds=[0])
    lock = store.lock(other)
    assert lock.acquire()
    hears = Hears()

    class Meanwhile(inline):
        def wait(self, seconds):  # the other runner ends its job after a few looks at it
            if len(self.started) == 1 and lock.held and hears.heard.count("beat") > 3:
                lock.release()
                assert run_job(other, place).status == "finished"
            return super().wait(seconds)

    hears.beat = lambda running: hears.heard.append("beat")
    engine = Meanwhile(place)
    summary = run([mine, other], store, results, engine, hears)
    assert engine.started == [mine]
    assert summary.finished == [mine, other]
    assert [each for each in hears.heard if each != "beat"] == [
        ("begin", 2, 0),
        ("busy", "ce+fnpal"),
        ("started", "ce"),
        ("finished", "ce"),
        ("finished", "ce+fnpal"),
        "end",
    ]
    assert len(results.read("tiny")) == 2


def test_what_another_runner_let_go_unfinished_is_taken_up(tiny, store, results, place, inline):
    job = tiny.job("ce", "digits/0.0", seed=0)
    lock = store.lock(job)
    assert lock.acquire()
    engine, hears = inline(place), Hears()
    hears.beat = lambda running: lock.release()
    assert run([job], store, results, engine, hears).finished == [job]
    assert hears.heard == [("begin", 1, 0), ("busy", "ce"), ("started", "ce"), ("finished", "ce"), "end"]


def test_a_lock_that_cannot_be_opened_fails_alone(tiny, store, results, place, inline):
    shut, free = tiny.jobs(methods=["ce", "ce+fnpal"], cells=["digits/0.0"], seeds=[0])
    store.lock(shut).path.mkdir()
    engine = inline(place)
    summary = run([shut, free], store, results, engine)
    assert engine.started == summary.finished == [free]
    ((job, why),) = summary.failed
    assert job == shut
    assert why.startswith("cannot open")


def test_a_damaged_run_folder_fails_alone(tiny, store, results, place, inline):
    broken, whole = tiny.jobs(methods=["ce", "ce+fnpal"], cells=["digits/0.0"], seeds=[0])
    run_job(broken, place)
    (store.run(broken).path / "result.json").write_text('{"test": {"acc')
    summary = run([broken, whole], store, results, inline(place))
    assert summary.finished == [whole]
    ((job, why),) = summary.failed
    assert job == broken
    assert "result.json is damaged" in why


def test_a_run_that_another_runner_left_damaged_fails_alone(tiny, store, results, place, inline):
    broken, whole = tiny.jobs(methods=["ce", "ce+fnpal"], cells=["digits/0.0"], seeds=[0])

    class Damages(inline):
        def start(self, job):
            super().start(job)
            if job == broken:
                (store.run(job).path / "speed.jsonl").write_text("{")

    summary = run([broken, whole], store, results, Damages(place))
    assert summary.finished == [whole]
    assert ["speed.jsonl, line 1 is damaged" in why for _, why in summary.failed] == [True]


def test_a_folder_of_records_that_cannot_be_made_is_refused_before_anything_is_done(
    tiny, store, place, inline, tmp_path
):
    (tmp_path / "taken").write_text("")
    engine = inline(place)
    with pytest.raises(InputError, match="taken"):
        run(tiny.jobs(seeds=[0]), store, Results(tmp_path / "taken"), engine)
    assert engine.started == []


def test_the_engine_is_closed_when_the_runner_is_stopped(tiny, store, results, place, inline):
    class Stopped(inline):
        def wait(self, seconds):
            raise KeyboardInterrupt

    engine, hears = Stopped(place), Hears()
    with pytest.raises(KeyboardInterrupt):
        run(tiny.jobs(seeds=[0]), store, results, engine, hears)
    assert engine.closed
    assert hears.heard[-1] == "end"


def test_two_runners_on_one_store_do_every_job_once(tiny, store, results, place, inline, monkeypatch):
    done = []

    def counted(split, settings, **options):
        done.append((settings["method"]["name"], settings["train"]["seed"]))
        time.sleep(0.02)
        return fit(split, settings, **options)

    monkeypatch.setattr("anchored.paper.worker.fit", counted)
    jobs = tiny.jobs(methods=["ce", "ce+fnpal"], cells=["digits/0.0"], seeds=[0, 1])
    summaries = []

    def go():
        summaries.append(run(jobs, store, Results(results.path), inline(place, limit=1)))

    threads = [threading.Thread(target=go) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == [("ce", 0), ("ce", 1), ("ce+fnpal", 0), ("ce+fnpal", 1)]
    assert all(len(s.finished) + len(s.skipped) == 4 and not s.failed for s in summaries)
    assert len(results.read("tiny")) == 4
